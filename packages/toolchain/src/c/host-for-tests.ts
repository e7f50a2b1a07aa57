/**
 * The least that a module needs to run in a test: arguments, standard output, a clock; MPI as the test says. Unwinds
 * and rewinds on demand.
 */
import { engine, type WasmInstance } from './engine.ts';
import type { ModuleInfo } from './instrument.ts';

type Call = (...args: number[]) => number | void;

/** State of a rank between two MPI calls: what an image has. */
export interface Image {
  readonly memory: Uint8Array;
  readonly globals: readonly (number | bigint)[];
}

export class TestHost {
  out = '';
  err = '';
  exit: number | undefined;
  grown = 0;
  readonly instance: WasmInstance;
  readonly #info: ModuleInfo;
  #leaving = false;
  #entering = false;

  constructor(wasm: Uint8Array, info: ModuleInfo, mpi: Record<string, Call>, args: readonly string[] = ['a.out']) {
    this.#info = info;
    const text = new TextEncoder();
    const argv = args.map((a) => text.encode(`${a}\0`));
    const view = (): DataView => new DataView((this.exports['memory'] as { buffer: ArrayBuffer }).buffer);
    const wasi: Record<string, Call> = {
      args_sizes_get: (count, size) => {
        view().setUint32(count!, argv.length, true);
        view().setUint32(
          size!,
          argv.reduce((n, a) => n + a.length, 0),
          true,
        );
        return 0;
      },
      args_get: (pointers, at) => {
        argv.forEach((a, i) => {
          view().setUint32(pointers! + i * 4, at!, true);
          new Uint8Array(view().buffer).set(a, at);
          at! += a.length;
        });
        return 0;
      },
      environ_sizes_get: (count, size) => {
        view().setUint32(count!, 0, true);
        view().setUint32(size!, 0, true);
        return 0;
      },
      environ_get: () => 0,
      fd_fdstat_get: (_fd, at) => {
        new Uint8Array(view().buffer).fill(0, at, at! + 24);
        view().setUint8(at!, 2);
        return 0;
      },
      fd_write: (fd, iovs, count, result) => {
        let total = 0;
        for (let i = 0; i < count!; i++) {
          const bytes = new Uint8Array(
            view().buffer,
            view().getUint32(iovs! + i * 8, true),
            view().getUint32(iovs! + i * 8 + 4, true),
          );
          const piece = new TextDecoder().decode(bytes);
          if (fd === 2) this.err += piece;
          else this.out += piece;
          total += bytes.length;
        }
        view().setUint32(result!, total, true);
        return 0;
      },
      clock_time_get: (_id, _precision, at) => {
        view().setBigUint64(at!, 5_000_000_000n, true);
        return 0;
      },
      random_get: (at, length) => {
        new Uint8Array(view().buffer).fill(7, at, at! + length!);
        return 0;
      },
      proc_exit: (code) => {
        this.exit = code!;
        throw new Error(`exit ${code!}`);
      },
    };
    const env = new Proxy(mpi, { get: (calls, name: string) => calls[name] ?? (() => 0) });
    const grow: Call = (pages) => {
      this.grown += pages!;
      return (this.exports['memory'] as { grow(n: number): number }).grow(pages!);
    };
    this.instance = new engine.Instance(new engine.Module(wasm), {
      env: env as never,
      mayfly: { grow, thrown: () => undefined },
      wasi_snapshot_preview1: new Proxy(wasi, { get: (calls, name: string) => calls[name] ?? (() => 52) }) as never,
    });
  }

  get exports(): Readonly<Record<string, unknown>> {
    return this.instance.exports;
  }

  #call(name: string, ...args: number[]): number {
    return (this.exports[name] as (...a: number[]) => number)(...args);
  }

  /** To be called inside an import, whose value then does not matter: the stack unwinds, `run` returns. */
  leave(): void {
    const { start, end } = this.#info.unwind;
    const v = new DataView((this.exports['memory'] as { buffer: ArrayBuffer }).buffer);
    v.setUint32(start, start + 8, true);
    v.setUint32(start + 4, end, true);
    this.#leaving = true;
    this.#call('asyncify_start_unwind', start);
  }

  /** To be called first inside an import: true when this is the call that had been left. */
  arrived(): boolean {
    if (!this.#entering) return false;
    this.#entering = false;
    this.#call('asyncify_stop_rewind');
    return true;
  }

  /** @returns the image when the program has left, undefined when it has ended */
  run(from?: Image): Image | undefined {
    if (from !== undefined) {
      const memory = this.exports['memory'] as { buffer: ArrayBuffer; grow(n: number): number };
      if (from.memory.length > memory.buffer.byteLength)
        memory.grow((from.memory.length - memory.buffer.byteLength) / 65536);
      new Uint8Array(memory.buffer).set(from.memory);
      this.#info.globals.forEach(
        (g, i) => ((this.exports[g.name] as { value: number | bigint }).value = from.globals[i]!),
      );
      this.#entering = true;
      this.#call('asyncify_start_rewind', this.#info.unwind.start);
    }
    try {
      this.#call('_start');
    } catch (error) {
      if (this.exit === undefined) throw error;
      return undefined;
    }
    if (!this.#leaving) {
      this.exit = 0;
      return undefined;
    }
    this.#leaving = false;
    this.#call('asyncify_stop_unwind');
    const memory = (this.exports['memory'] as { buffer: ArrayBuffer }).buffer;
    return {
      memory: new Uint8Array(memory.slice(0)),
      globals: this.#info.globals.map((g) => (this.exports[g.name] as { value: number | bigint }).value),
    };
  }
}
