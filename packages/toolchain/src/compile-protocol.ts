/** Messages between the compiler (parent) and the compile process (child). */
import type {
  ArchiveRequest,
  CompileRequest,
  CompileResult,
  ModuleRequest,
  ModuleResult,
  NativeRequest,
  UnpackResult,
} from './compile-request.ts';
import type { Watch } from './watch.ts';

export type AnyRequest = CompileRequest | NativeRequest | ModuleRequest | ArchiveRequest;
export type AnyResult = CompileResult | ModuleResult | UnpackResult;

export type ToCompileServer =
  | { readonly type: 'warm'; readonly id: number }
  | { readonly type: 'compile'; readonly id: number; readonly request: AnyRequest; readonly watch: Watch };
export type FromCompileServer =
  | { readonly type: 'ready' }
  | { readonly type: 'warm'; readonly id: number }
  | { readonly type: 'result'; readonly id: number; readonly result: AnyResult }
  /** A defect of ours or of a tool, not of the program. */
  | { readonly type: 'failed'; readonly id: number; readonly message: string };
