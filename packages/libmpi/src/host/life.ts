/**
 * One instance of a rank's program: the module, its imports, the unwinding of its stack, images.
 *
 * Owns: the life of the instance and the order of events around an image. Does not own: the instance's memory and
 * globals (instance.ts), MPI (binding), WASI (wasi.ts), where an image goes and when one is due (options.ts).
 *
 * **An image** is taken at a suspending import, in one of two places: at its entry, before anything of the call has
 * happened (then the rewound program calls it afresh), or when it waits and the device answers that an image is due
 * (`Interrupted`: then the binding has kept a record, and the call goes on with it). The stack unwinds into the linear
 * memory, `_start` returns, memory and globals are copied, the stack is rewound by calling `_start` again. A restore
 * does the second half in a new instance. A **re-entry** is the same without the copy: the program's functions are left
 * and entered anew, as better code.
 *
 * Invariants
 *  H1 No image while a callback of the program is on the stack (B3 of program.ts), nor at an import whose callers are
 *  not instrumented.
 *  H2 Image and program cannot be told apart by the program: nothing that it can call answers differently after one.
 *  H3 The first import that is called after a rewind is the one that was unwound; anything else is a defect, and ends
 *  the incarnation, never the job.
 *  H4 The program's end is one exit report: return, exit(), MPI_Abort, a trap. What is thrown out of {@link runProcess}
 *  is the host's own failure.
 */
import {
  createLayer,
  decodeValue,
  encodeValue,
  heldArrivals,
  Interrupted,
  ports,
  restore,
  snapshot,
  world,
  type Layer,
  type RestoredImage,
} from '@mayfly/mpi';
import type { ExitReport } from '@mayfly/wire';
import { Asking, type Way } from './asking.ts';
import { Ended, failed, IncarnationDies, isException, isHosts, MESSAGE_LIMIT } from './ending.ts';
import { Files } from './files.ts';
import type { Cycles } from './cycle.ts';
import { IMAGE_FORMAT, type GlobalsSection, type ProcessImage } from './image.ts';
import { Instance } from './instance.ts';
import { Output } from './output.ts';
import type { ProcessOptions, Waits } from './options.ts';
import type { ModuleSection } from './section.ts';
import { KernelPacker } from '../packing/packer.ts';
import { describeLeft, describeTrap, moduleName } from './trap.ts';
import { createWasi, type WasiState } from './wasi.ts';
import { WAITING_WASI } from '../binding/suspending-calls.ts';
import type { Binding, Program, Word } from '../program.ts';

/** Bytes for the unwound stack, beyond which the engines' own stacks do not go. */
const ROOMY = 4 << 20;

/** A module may ask for a function by a name that every object has. */
const named = <T>(functions: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(functions, name) ? functions[name] : undefined;

const enum Phase {
  RUNNING,
  UNWINDING,
  REWINDING,
}

export class Life implements Waits {
  private readonly layer: Layer;
  private readonly binding: Binding;
  private readonly wasi: ReturnType<typeof createWasi>;
  private readonly files: Files;
  private readonly output: Output;
  private readonly instance: Instance;
  private phase = Phase.RUNNING;
  /** The suspending import that runs or was unwound. */
  private call = '';
  private inCall = false;
  private interruptedCall = false;
  /** The stack is unwound to be entered again at once, without an image. */
  private reentering = false;
  /** No program's stack outgrows the room for unwinding: it can be unwound without need. */
  private readonly roomy: boolean;
  private readonly sharesNames: boolean;
  private calls = 0;
  private waitTaken = false;
  /** Where the last exception was thrown. */
  private thrown: Error | undefined;
  private readonly packer: KernelPacker | undefined;
  private ending = false;

  constructor(
    private readonly o: ProcessOptions,
    private readonly section: ModuleSection,
    image: RestoredImage | undefined,
    private readonly cycles: Cycles | undefined,
  ) {
    const { host } = o;
    this.roomy = section.unwind.end - section.unwind.start >= ROOMY;
    this.sharesNames = section.suspending?.some((s) => s.startsWith('wasi_snapshot_preview1.path_')) ?? true;
    this.layer = createLayer(host.device, () => this.instance.memory());
    this.packer = KernelPacker.make(() => this.instance.exports.memory, section.unwind);
    this.layer.memory.packer = this.packer;
    const program: Program = {
      get memory() {
        return life.instance.exports.memory;
      },
      callable: (index) => this.callable(index, false),
      callableLast: (index) => this.callable(index, true),
      malloc: (n) => (this.instance.exports.malloc?.(n) ?? 0) >>> 0,
      free: (at) => this.instance.exports.free?.(at),
      abort: (code, message, kind = 'ABORTED') => {
        throw new Ended({ code: code & 255 || 1, abort: { code: kind, message: message.slice(0, MESSAGE_LIMIT) } });
      },
    };
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the getter above has a this of its own
    const life = this;
    this.binding = o.createBinding({
      layer: this.layer,
      program,
      wanted: section.functions,
      programName: host.args[0] ?? '',
      processorName: () => host.processorName(),
      version: host.version,
    });
    this.files = new Files(
      host.inputs,
      (path) => host.readInput(path),
      {
        write: (path, offset, bytes) => world.writeFileAt(this.layer, path, offset, bytes),
        append: (path, bytes) => world.appendToFile(this.layer, path, bytes),
        cut: (path, length) => world.cutFile(this.layer, path, length),
        removeShared: (path) => {
          if (!this.layer.state.files.names.delete(path)) return false;
          world.cutFile(this.layer, path, Infinity);
          return true;
        },
      },
      host.fileBytes,
    );
    this.output = new Output((stream, bytes) => world.writeOut(this.layer, bytes, stream));
    this.wasi = createWasi({
      args: host.args,
      env: host.env,
      files: this.files,
      asking: new Asking(this.layer, () => this.way()),
      memory: () => this.instance.memory(),
      out: (stream, bytes) => this.output.write(stream, bytes),
      complain: (line) => {
        this.output.settle();
        world.writeOut(this.layer, line, 'stderr');
      },
      settle: () => this.output.settle(),
      read: (most) => world.readIn(this.layer, most),
      clock: () => host.device.clock(),
      random: (into) => host.random.fill(into),
      sleep: (ms) => host.sleep(ms),
      interrupt() {
        throw new Interrupted();
      },
      exit: (code) => {
        // As a process manager has it: the others would wait for it for ever.
        const told = this.layer.device.tellsLosses === true && this.binding.unfinalized;
        const lost = (code & 255) !== 0 && !this.layer.state.finalized && !told;
        throw new Ended({
          code: code & 255,
          ...(lost
            ? { abort: { code: 'ABORTED', message: `ended with exit code ${code & 255} without MPI_Finalize` } }
            : {}),
        });
      },
    });
    const importOf = (module: string, name: string): unknown => this.importOf(module, name);
    this.instance = cycles ? cycles.enter(importOf) : new Instance(o.module, section, importOf);
    if (image) this.restore(image);
  }

  /** @param last nothing of the MPI call around it is left to do (B4 of program.ts) */
  private callable(index: number, last: boolean): (...args: Word[]) => Word | void {
    const f = this.instance.tableEntry(index);
    return (...args) => {
      let result: Word | void;
      try {
        result = f(...args);
      } catch (e) {
        // The MPI call around it cannot be left half done.
        throw isException(e) && !last ? new Ended(this.uncaught()) : e;
      }
      // The call that it is part of may still take an image (T3).
      this.output.settle();
      return result;
    };
  }

  // ── imports ────────────────────────────────────────────────────────────────────────────────────────────────────────

  private importOf(module: string, name: string): unknown {
    if (module === 'mayfly' && name === 'grow')
      return (pages: number) => {
        const before = this.instance.grow(pages >>> 0, this.o.host.memoryBytes);
        // Many a program does not look at what malloc returns, and address 0 is memory like any other.
        if (before < 0)
          this.wasi.complain(
            'out of memory: the program may have ' +
              `${Math.floor(Math.min(this.o.host.memoryBytes, this.instance.section.maximum * 65536) / 2 ** 20)} ` +
              'MB, and malloc returns NULL beyond',
          );
        return before;
      };
    if (module === 'mayfly' && name === 'thrown') return () => void (this.thrown = new Error('thrown'));
    if (module === 'wasi_snapshot_preview1') {
      const f = named(this.wasi.functions, name) as ((...a: Word[]) => Word) | undefined;
      if (!f)
        return () => {
          this.wasi.complain(`the program called ${name}, which does not exist here (ENOSYS)`);
          return 52;
        };
      return WAITING_WASI.includes(name) && this.canSuspend(module, name) ? this.suspending(name, f) : f;
    }
    const f = module === 'env' ? named(this.binding.functions, name) : undefined;
    if (!f)
      return () => {
        throw new Error(`the program called ${module}.${name}, which does not exist here`);
      };
    return this.binding.suspending.has(name) && this.canSuspend(module, name)
      ? this.suspending(name, f)
      : this.apart(f);
  }

  /** T2. */
  private apart(f: (...args: Word[]) => Word | void): (...args: Word[]) => Word | void {
    return (...args) => {
      this.output.settle();
      return f(...args);
    };
  }

  private canSuspend(module: string, name: string): boolean {
    return this.section.suspending === undefined || this.section.suspending.includes(`${module}.${name}`);
  }

  /** An import at which the stack may be unwound. */
  private suspending(name: string, f: (...args: Word[]) => Word | void): (...args: Word[]) => Word | void {
    return (...args) => {
      this.output.settle();
      if (this.binding.depth > 0 || this.ending) return f(...args);
      if (this.phase === Phase.REWINDING) this.rewound(name);
      else {
        this.waitTaken = false;
        if (name in this.binding.functions) this.files.show();
        if (this.due()) return this.unwind(name, false);
        if (this.roomy && this.o.host.reentryDue?.()) {
          this.reentering = true;
          return this.unwind(name, false);
        }
      }
      this.call = name;
      this.inCall = true;
      try {
        return f(...args);
      } catch (e) {
        if (e instanceof Interrupted) return this.unwind(name, true);
        throw e;
      } finally {
        this.inCall = false;
      }
    };
  }

  /** How a call of WASI asks about names: a program of an older build cannot be left where it would wait. */
  private way(): Way {
    if (!this.sharesNames) return 'no';
    return this.inCall && this.binding.depth === 0 && !this.ending ? 'wait' : 'send';
  }

  /** At the entry of a call. */
  private due(): boolean {
    if (this.cycles) return ++this.calls % this.cycles.every === 0;
    return this.o.host.imageDue(false);
  }

  interrupted(): boolean {
    // Outside the suspending calls, and below a callback of the program, a wait is not interrupted (H1).
    if (!this.inCall || this.binding.depth > 0 || this.ending) return false;
    if (this.cycles) return this.waitTaken ? false : (this.waitTaken = true);
    return this.o.host.imageDue(true);
  }

  /** @returns the value that the program never sees */
  private unwind(name: string, interrupted: boolean): 0 {
    this.call = name;
    this.interruptedCall = interrupted;
    this.phase = Phase.UNWINDING;
    this.packer?.forget();
    const { start, end } = this.section.unwind;
    const words = new DataView(this.instance.exports.memory.buffer);
    words.setUint32(start, start + 8, true);
    words.setUint32(start + 4, end, true);
    this.instance.exports.asyncify_start_unwind(start);
    return 0;
  }

  private rewound(name: string): void {
    if (name !== this.call) throw new IncarnationDies(`the stack was unwound in ${this.call} and came back in ${name}`);
    this.instance.exports.asyncify_stop_rewind();
    this.phase = Phase.RUNNING;
    this.o.host.resumed?.();
    // A waiting call of WASI keeps its own record.
    if (this.interruptedCall && name in this.binding.functions) this.binding.resume();
  }

  // ── the life ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The report of the program's end, or the image from which another life goes on (cycles). */
  run(): { report: ExitReport } | { report?: undefined; image: RestoredImage } {
    for (;;) {
      try {
        if (this.phase === Phase.REWINDING) this.instance.exports.asyncify_start_rewind(this.section.unwind.start);
        this.instance.exports._start();
        if (this.phase === Phase.REWINDING) throw new IncarnationDies('the stack could not be rewound');
        if (this.phase !== Phase.UNWINDING) return this.leave({ code: 0 });
      } catch (e) {
        return this.leave(this.reportOf(e));
      }
      this.instance.exports.asyncify_stop_unwind();
      if (this.reentering) {
        this.reentering = false;
        this.phase = Phase.REWINDING;
        continue;
      }
      const image = this.take();
      this.phase = Phase.REWINDING;
      if (this.cycles) return { image: this.cycles.keep(image) };
      this.o.host.saveImage(image);
    }
  }

  private reportOf(e: unknown): ExitReport {
    if (e instanceof Ended) return e.report;
    if (isException(e)) return this.uncaught();
    if (e instanceof IncarnationDies || isHosts(e)) throw e;
    if (this.phase === Phase.UNWINDING && e instanceof WebAssembly.RuntimeError) {
      const kb = Math.floor((this.section.unwind.end - this.section.unwind.start) / 1024);
      return failed({
        message:
          `the stack of the program is too deep for a checkpoint: it needs more than the ${kb} KB that are set ` +
          'aside (mpicc --mayfly-unwind=<bytes> sets more aside)',
      });
    }
    return failed(describeTrap(e, this.instance.stackPointer(), moduleName(this.o.module)), 'PROGRAM_TRAP');
  }

  /**
   * An exception or a jump that nobody caught. C++ says what it is, and may still end otherwise (a terminate handler
   * that calls exit).
   */
  private uncaught(): ExitReport {
    this.ending = true;
    try {
      this.instance.exports.mayfly_uncaught?.();
    } catch (e) {
      if (e instanceof Ended) return e.report;
      if (isHosts(e)) throw e;
    }
    return failed(
      describeLeft(this.instance.exports.mayfly_uncaught ? this.thrown : undefined, moduleName(this.o.module)),
    );
  }

  /** What was written and not yet sent, then the exit: the last message of the task. */
  private leave(report: ExitReport): { report: ExitReport } {
    this.output.settle();
    this.files.flush();
    for (const path of this.files.refused)
      this.wasi.complain(
        `the file ${path} is not kept: a result's name has letters, digits and ._@+:- only, and no part ` +
          'begins with a dot',
      );
    ports.leave(this.layer);
    const failed = this.layer.device.tellsLosses && this.binding.unfinalized && !report.abort;
    world.sendExit(this.layer, failed ? { ...report, unfinalized: true } : report);
    return { report };
  }

  // ── images ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  private take(): ProcessImage {
    const globals: GlobalsSection = {
      format: IMAGE_FORMAT,
      globals: this.instance.globalValues(),
      call: this.call,
      interrupted: this.interruptedCall,
    };
    return {
      sections: [
        { name: 'memory', parts: [this.instance.memory()], dead: this.instance.dead() },
        { name: 'globals', parts: [encodeValue(globals, 'globals')] },
        { name: 'wasi', parts: [encodeValue(this.wasi.snapshot(), 'WASI state')] },
        { name: 'binding', parts: [this.binding.snapshot()] },
        { name: 'mpi', parts: [snapshot(this.layer)] },
      ],
      held: heldArrivals(this.layer),
    };
  }

  private restore(image: RestoredImage): void {
    const { memory, globals, wasi, binding, mpi } = image;
    if (!memory || !globals || !wasi || !binding || !mpi) throw new IncarnationDies('the image lacks a section');
    const g = decodeValue(globals) as GlobalsSection;
    if (g.format !== IMAGE_FORMAT)
      throw new IncarnationDies(`an image of format ${g.format}, this build reads ${IMAGE_FORMAT}`);
    this.instance.restore(memory, g.globals, this.cycles?.dead);
    restore(this.layer, mpi);
    this.binding.restore(binding);
    this.wasi.restore(decodeValue(wasi) as WasiState);
    this.call = g.call;
    this.interruptedCall = g.interrupted;
    // The wait that was interrupted goes on; the next interruption comes with the next call.
    this.waitTaken = g.interrupted;
    this.phase = Phase.REWINDING;
  }
}
