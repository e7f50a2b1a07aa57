/** What goes into the compiler and what comes out of it. */
import type { Diagnostic } from '@mayfly/wire';

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

/** One message of the compiler; line and column from 1, in UTF-16 code units. */
export interface ProgramDiagnostic extends Diagnostic {
  readonly severity: 'error' | 'warning';
}

export interface CompiledProgram {
  readonly ok: true;
  /**
   * One classic script, an IIFE in strict mode. It reads the global `__mayfly` (the module 'mayfly') and the globals of the rank
   * (Math, console …), and nothing else. It ends with `//# sourceURL=mayfly-program.js`, so that stacks name it.
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
  /** FORBIDDEN_IMPORT when something outside the program was asked for, BAD_MODULE for a module that no rank can run, TOO_LARGE, TIME_LIMIT, else COMPILE_FAILED. */
  readonly code: 'COMPILE_FAILED' | 'FORBIDDEN_IMPORT' | 'BAD_MODULE' | 'TOO_LARGE' | 'TIME_LIMIT';
  readonly message: string;
  /** Errors first, then warnings. Never empty of errors for COMPILE_FAILED and FORBIDDEN_IMPORT. */
  readonly diagnostics: ProgramDiagnostic[];
}

export type CompileResult = CompiledProgram | RefusedProgram;

export interface CompilerOptions {
  /** A request that takes longer is ended with TIME_LIMIT, and the compile process with it. Default 30 s; of C and C++ 120 s. */
  readonly timeLimitMs?: number;
  /** Heap of the compile process, MB. Default 512. */
  readonly memoryMb?: number;
  /** Text of all files together, bytes. Default 8 MB. */
  readonly maxSourceBytes?: number;
  /** Number of files. Default 500. */
  readonly maxFiles?: number;
  /** Requests that wait; one more is refused with TOO_MANY (thrown). Default 64. */
  readonly maxQueue?: number;
  /** An idle compile process goes away after this. Default 10 minutes. */
  readonly idleMs?: number;
  /** dist/compile-server.mjs of this package, where it cannot be found by itself (a bundled app). */
  readonly serverPath?: string;
}

/** One warm compile process, which serves one request at a time. */
export interface Compiler {
  /** @throws MayflyError TOO_MANY when the queue is full, INTERNAL when the compile process cannot be started. */
  compile(request: CompileRequest): Promise<CompileResult>;
  /** C, C++ or a ready module to a checkpointable one. @throws as {@link compile} */
  compileModule(request: NativeRequest | ModuleRequest): Promise<ModuleResult>;
  /** Starts the process and reads TypeScript's library, so that the first program need not wait for it. */
  warm(): Promise<void>;
  close(): Promise<void>;
}
