/** What goes into the compiler and what comes out of it. */
import type { Diagnostic } from '@mayfly/wire';
import type { PlainProgram } from './project.ts';

export interface CompileRequest {
  /** Path of the file that runs first: a key of `sources`. */
  readonly entry: string;
  /** Text of the program's files by relative path: .ts .tsx .mts .js .mjs .jsx .json .txt */
  readonly sources: Readonly<Record<string, string>>;
}

/** A program of C or C++, whole. */
export interface NativeRequest {
  readonly language: 'c' | 'c++';
  /** Text of all files by relative path. */
  readonly sources: Readonly<Record<string, string>>;
  /** Files to compile, in the order of the link; default: every one with a suffix of C or C++. */
  readonly units?: readonly string[];
  /** Options of clang and of the linker, checked by the caller. Without an -O, -O2 is taken. */
  readonly flags: readonly string[];
  /** What the memory of a rank may grow to, in pages of 64 KB. */
  readonly maxPages?: number;
}

/** A module that was linked elsewhere. */
export interface ModuleRequest {
  readonly language: 'wasm';
  readonly module: Uint8Array;
  readonly maxPages?: number;
}

/** zip, tar or tar.gz with a manifest. */
export interface ArchiveRequest {
  readonly language: 'archive';
  readonly archive: Uint8Array;
}

/** One message of the compiler; line and column from 1, in UTF-16 code units. */
export interface ProgramDiagnostic extends Diagnostic {
  readonly severity: 'error' | 'warning';
}

export interface CompiledProgram {
  readonly ok: true;
  /**
   * One classic script, an IIFE in strict mode. It reads the global `__mayfly` (the module 'mayfly') and the globals of
   * the rank (Math, console …), and nothing else. It ends with `//# sourceURL=mayfly-program.js`, so that stacks name
   * it.
   */
  readonly bundle: string;
  /** Source map (JSON, version 3) of the bundle, with the sources' text. Use {@link mapStack}. */
  readonly sourceMap: string;
  /** BLAKE3-256 of the bundle's UTF-8 bytes, hexadecimal. */
  readonly hash: string;
  readonly warnings: ProgramDiagnostic[];
}

/** A checkpointable module. */
export interface CompiledModule {
  readonly ok: true;
  readonly language: 'c' | 'c++' | 'wasm';
  readonly module: Uint8Array;
  /** BLAKE3-256 of the module, hexadecimal. */
  readonly hash: string;
  readonly warnings: ProgramDiagnostic[];
}

export type ModuleResult = CompiledModule | RefusedProgram;

export interface RefusedProgram {
  readonly ok: false;
  /**
   * FORBIDDEN_IMPORT when something outside the program was asked for, BAD_MODULE for a module that no rank can run,
   * BAD_ARCHIVE, TOO_LARGE for too much text, COMPILE_LIMIT when it takes too much time or memory, else COMPILE_FAILED.
   */
  readonly code: 'COMPILE_FAILED' | 'FORBIDDEN_IMPORT' | 'BAD_MODULE' | 'BAD_ARCHIVE' | 'TOO_LARGE' | 'COMPILE_LIMIT';
  readonly message: string;
  /** Errors first, then warnings. Never empty of errors for COMPILE_FAILED and FORBIDDEN_IMPORT. */
  readonly diagnostics: ProgramDiagnostic[];
}

export type CompileResult = CompiledProgram | RefusedProgram;
export type UnpackResult = { readonly ok: true; readonly program: PlainProgram } | RefusedProgram;

export interface CompilerOptions {
  /**
   * A request that takes longer by the clock is ended with COMPILE_LIMIT, and its process with it. Default 80 s; of C
   * and C++ 240 s; of an archive 40 s.
   */
  readonly timeLimitMs?: number;
  /** The same for processor time. Default 20 s; of C and C++ 60 s; of an archive 10 s. */
  readonly cpuLimitMs?: number;
  /** Heap of a compile process, MB. Default 512. */
  readonly memoryMb?: number;
  /** All of its memory, with that of clang, which is none of the heap, MB. Default 2048. */
  readonly rssMb?: number;
  /** Text of all files together, bytes. Default 8 MB. */
  readonly maxSourceBytes?: number;
  /** Number of files. Default 500. */
  readonly maxFiles?: number;
  /**
   * Processes at most; all but the first begin when they are needed. Default: by cores and memory,
   * {@link defaultWorkers}.
   */
  readonly workers?: number;
  /** Requests that wait; one more is refused with TOO_MANY (thrown). Default 256, of one owner 16. */
  readonly maxQueue?: number;
  readonly maxPerOwner?: number;
  /** An owner who has all processes gives one up when another owner has waited for so long. Default 2 s. */
  readonly patienceMs?: number;
  /** An idle process goes away after this, the first one after `idleMs`. Default 1 minute, 10 minutes. */
  readonly extraIdleMs?: number;
  readonly idleMs?: number;
  /** dist/compile-server.mjs of this package, where it cannot be found by itself (a bundled app). */
  readonly serverPath?: string;
}

/** For whom something is compiled. */
export interface Asker {
  /** Processes are shared fairly among owners. Absent: all who name none are one. */
  readonly owner?: string;
  /**
   * Nobody waits for it any more: it leaves the queue, or its process is ended. The promise is rejected with CANCELLED.
   */
  readonly signal?: AbortSignal;
  /** Called when it cannot begin at once: how many wait, of all owners, with it. */
  readonly waits?: (waiting: number) => void;
}

/** Warm compile processes, each of which serves one request at a time, and a queue that is fair among owners. */
export interface Compiler {
  /**
   * @throws MayflyError TOO_MANY when the queue is full, CANCELLED, INTERNAL when no compile process can be started.
   */
  compile(request: CompileRequest, asker?: Asker): Promise<CompileResult>;
  /** C, C++ or a ready module to a checkpointable one. @throws as {@link compile} */
  compileModule(request: NativeRequest | ModuleRequest, asker?: Asker): Promise<ModuleResult>;
  /** What an archive holds, as a program that is not compiled yet. @throws as {@link compile} */
  unpack(request: ArchiveRequest, asker?: Asker): Promise<UnpackResult>;
  /** Starts a process and reads TypeScript's library, so that the first program need not wait for it. */
  warm(): Promise<void>;
  /** Processes that run, requests that have one, and requests that wait. */
  load(): { readonly processes: number; readonly running: number; readonly waiting: number };
  close(): Promise<void>;
}
