/**
 * One command line's run of a driver: the caller's files with the sysroot and our own put over them, the tools of LLVM
 * over these, and what was said so far.
 */
import { type FileTree, MemoryFiles, MountedFiles } from '../files.ts';
import { llvmModule, SYSROOT, sysrootFiles } from '../llvm.ts';
import { RESOURCES, resources } from '../resources.ts';
import { runWasi, type WasiResult } from '../wasi-process.ts';
import type { CallStore } from './cache/call-store.ts';

/** Where precompiled headers lie. */
export interface PrecompiledHeaders {
  readonly store: CallStore;
  /** What identifies mpi.h, the compatibility layer, clang and the drivers' code. */
  readonly version: string;
}

export interface DriverOptions {
  readonly files: FileTree;
  readonly cwd: string;
  readonly driver: 'mpicc' | 'mpicxx';
  readonly stdin?: Uint8Array;
  /** As in InstrumentOptions. */
  readonly maxPages?: number;
  /**
   * Leave the module as the linker made it: what instrumentation costs is measured against it. Mayfly does not run such
   * a module.
   */
  readonly plain?: boolean;
  /** Goes before a linked program, but for one that is named as a module (launcher.ts). */
  readonly launcher?: Uint8Array;
  /** Of the C++ library; undefined: none are used. */
  readonly precompiled?: PrecompiledHeaders;
  /** Mayfly's, for --showme:version. */
  readonly version?: string;
}

export interface DriverResult {
  readonly exit: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Objects on their way to the linker. */
export const TEMPORARY = '/.mayfly/tmp';

export class DriverRun {
  readonly files: FileTree;
  readonly temporary = new MemoryFiles();
  readonly options: DriverOptions;
  /** Sees each file of the caller's that a tool reads. */
  onRead: (path: string, bytes: Uint8Array) => void = () => undefined;
  readonly #prefixes: readonly string[];
  readonly #out: Uint8Array[] = [];
  readonly #err: Uint8Array[] = [];

  constructor(options: DriverOptions, prefixes: readonly string[]) {
    this.options = options;
    this.#prefixes = ['/.mayfly', ...prefixes];
    this.files = this.#mounted(options.files);
  }

  /** Runs a tool; a crash of the tool itself is its exit code 70, with a message. */
  llvm(...args: string[]): WasiResult {
    return this.#run(this.files, this.options.stdin, args);
  }

  /** Runs a tool that sees other files than the caller's, another standard input, or another folder of mpi.h. */
  llvmOver(
    { base, stdin, headers }: { base: FileTree; stdin: Uint8Array | undefined; headers?: FileTree },
    ...args: string[]
  ): WasiResult {
    return this.#run(this.#mounted(base, headers), stdin, args);
  }

  #mounted(base: FileTree, headers?: FileTree): FileTree {
    return new MountedFiles(
      base,
      [
        ...(headers === undefined ? [] : [{ at: `${RESOURCES}/include`, tree: headers }]),
        { at: SYSROOT, tree: sysrootFiles() },
        { at: RESOURCES, tree: resources().files },
        { at: TEMPORARY, tree: this.temporary, writable: true },
      ],
      (path, bytes) => this.onRead(path, bytes),
    );
  }

  #run(files: FileTree, stdin: Uint8Array | undefined, args: readonly string[]): WasiResult {
    try {
      return runWasi(llvmModule(), {
        args: ['llvm', ...args],
        files,
        cwd: this.options.cwd,
        absolutePrefixes: this.#prefixes,
        ...(stdin && { stdin }),
      });
    } catch (error) {
      const why = error instanceof RangeError ? 'it ran out of stack or memory' : (error as Error).message;
      return {
        exit: 70,
        stdout: new Uint8Array(0),
        stderr: new TextEncoder().encode(`${args[0]!}: error: the compiler crashed (${why})\n`),
      };
    }
  }

  say(text: string | Uint8Array): void {
    this.#err.push(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  }

  print(text: string | Uint8Array): void {
    this.#out.push(typeof text === 'string' ? new TextEncoder().encode(text) : text);
  }

  result(exit: number): DriverResult {
    return { exit, stdout: Buffer.concat(this.#out), stderr: Buffer.concat(this.#err) };
  }
}
