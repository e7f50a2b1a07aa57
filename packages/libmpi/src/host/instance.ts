/**
 * The WebAssembly instance of a rank's program: its exports, memory, mutable globals and table. What an image keeps of
 * it is read and set here; when, is life.ts's affair.
 */
import { IncarnationDies } from './ending.ts';
import { between, type GlobalsSection, type Range } from './image.ts';
import { GLOBAL_PREFIX, UnfitModule, type ModuleSection } from './section.ts';
import type { Word } from '../program.ts';

const PAGE = 65536;

export type ImportOf = (module: string, name: string) => unknown;

export interface Exports {
  memory: WebAssembly.Memory;
  __indirect_function_table?: WebAssembly.Table;
  malloc?(n: number): number;
  free?(at: number): void;
  _start(): void;
  asyncify_start_unwind(at: number): void;
  asyncify_stop_unwind(): void;
  asyncify_start_rewind(at: number): void;
  asyncify_stop_rewind(): void;
  /** Of a C++ program: says what was thrown, and ends. */
  mayfly_uncaught?(): void;
}

export class Instance {
  readonly exports: Exports;
  private readonly globals: readonly [string, WebAssembly.Global][];
  private bytes = new Uint8Array(0);

  /** @throws UnfitModule, IncarnationDies where the engine has no memory for it */
  constructor(
    module: WebAssembly.Module,
    readonly section: ModuleSection,
    importOf: ImportOf,
  ) {
    // Names are the module's: without a prototype, '__proto__' is one like any other.
    const imports = Object.create(null) as WebAssembly.Imports;
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== 'function')
        throw new UnfitModule(`the module imports the ${kind} ${from}.${name}, which does not exist here`);
      (imports[from] ??= Object.create(null) as WebAssembly.ModuleImports)[name] = importOf(
        from,
        name,
      ) as WebAssembly.ImportValue;
    }
    try {
      this.exports = new WebAssembly.Instance(module, imports).exports as unknown as Exports;
    } catch (e) {
      if (e instanceof WebAssembly.LinkError) throw new UnfitModule(e.message);
      throw new IncarnationDies(`the engine cannot give the program its memory: ${String(e)}`);
    }
    this.globals = Object.entries(this.exports as unknown as Record<string, unknown>)
      .filter((e): e is [string, WebAssembly.Global] => e[0].startsWith(GLOBAL_PREFIX))
      .sort((a, b) => (a[0] < b[0] ? -1 : 1));
  }

  memory(): Uint8Array {
    // When a memory grows its buffer is detached: a view of it has no length any more.
    if (this.bytes.length === 0) this.bytes = new Uint8Array(this.exports.memory.buffer);
    return this.bytes;
  }

  /** @throws WebAssembly.RuntimeError as a call through such a pointer would */
  tableEntry(index: number): (...args: Word[]) => Word | void {
    let f: unknown = null;
    try {
      if (index !== 0) f = this.exports.__indirect_function_table?.get(index) as unknown;
    } catch {
      throw new WebAssembly.RuntimeError('table index is out of bounds');
    }
    if (!f) throw new WebAssembly.RuntimeError('null function');
    return f as (...args: Word[]) => Word | void;
  }

  /** `memory.grow` of the program, up to the job's limit. */
  grow(pages: number, limitBytes: number): number {
    const { memory } = this.exports;
    const before = memory.buffer.byteLength / PAGE;
    if ((before + pages) * PAGE > limitBytes) return -1;
    try {
      return memory.grow(pages);
    } catch {
      // Beyond the module's own maximum it fails always; below it only where the engine has no more
      // (docs/pessimistic.md, non-determinism).
      if (before + pages > this.section.maximum) return -1;
      throw new IncarnationDies(
        `out of memory: the engine cannot give the program ${pages * 64} KB more than its ${before * 64} KB`,
      );
    }
  }

  stackPointer(): number | undefined {
    const named = (this.exports as unknown as Record<string, unknown>)['__stack_pointer'];
    const first = named instanceof WebAssembly.Global ? named : this.globals[0]?.[1];
    const value: unknown = first?.value;
    return typeof value === 'number' ? value >>> 0 : undefined;
  }

  /** What the program will never read: the stack below its pointer, and the room for unwinding that was not needed. */
  dead(): Range[] {
    const { stack, unwind } = this.section;
    const sp = this.stackPointer();
    const used = new DataView(this.exports.memory.buffer).getUint32(unwind.start, true);
    const out: Range[] = stack && sp !== undefined && sp > stack.low && sp <= stack.high ? [[stack.low, sp]] : [];
    return used >= unwind.start && used < unwind.end ? [...out, [used, unwind.end]] : out;
  }

  globalValues(): GlobalsSection['globals'] {
    return this.globals.map(([name, g]) => [name, g.value as number | bigint]);
  }

  /** For tests: no global has the value that it had. */
  spoilGlobals(): void {
    for (const [, g] of this.globals)
      g.value = typeof g.value === 'bigint' ? -1n - (g.value as bigint) : -1 - (g.value as number);
  }

  /**
   * Of an image. `without`: ascending ranges of the memory that keep what they have. @throws IncarnationDies where it
   * does not fit
   */
  restore(memory: Uint8Array, globals: GlobalsSection['globals'], without: readonly Range[] = []): void {
    const missing = memory.length - this.exports.memory.buffer.byteLength;
    if (missing > 0)
      try {
        this.exports.memory.grow(missing / PAGE);
      } catch (e) {
        throw new IncarnationDies(
          `the engine cannot give the program the ${memory.length / 1048576} MB of its image: ${String(e)}`,
        );
      }
    for (const [from, to] of between(memory.length, without)) this.memory().set(memory.subarray(from, to), from);
    const mine = new Map(this.globals);
    for (const [name, value] of globals) {
      const to = mine.get(name);
      if (!to) throw new IncarnationDies(`the image has a global ${name} that the program lacks`);
      to.value = value;
    }
  }
}
