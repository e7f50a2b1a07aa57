/** Messages between the compiler (parent) and the compile process (child). */
import type { CompileRequest, CompileResult, ModuleRequest, ModuleResult, NativeRequest } from './types.ts';

export type AnyRequest = CompileRequest | NativeRequest | ModuleRequest;

export type ToCompileServer = { readonly type: 'warm'; readonly id: number } | { readonly type: 'compile'; readonly id: number; readonly request: AnyRequest };
export type FromCompileServer =
  | { readonly type: 'ready' }
  | { readonly type: 'warm'; readonly id: number }
  | { readonly type: 'result'; readonly id: number; readonly result: CompileResult | ModuleResult }
  /** A defect of ours or of a tool, not of the program. */
  | { readonly type: 'failed'; readonly id: number; readonly message: string };
