/**
 * Calls that can be left early. clang lowers a call inside a try block, one with destructors to run behind it, and one
 * in a function that calls setjmp to `invoke_…(function, arguments)`, and looks behind it whether `__THREW__` was set
 * (../../compat/throw.c). Here these imports get their bodies: WebAssembly's `try` around the call, a `catch` that puts
 * the stack pointer back and sets the flag.
 *
 * It stands before Asyncify, which then takes the thunk for one function more: a checkpoint may be taken at any depth
 * of them, also inside of a try block. Nothing is ever called in the catch part, which Asyncify could not unwind. The
 * older instructions (`try`/`catch`) are used: every engine has them, and Asyncify knows no others.
 */
import binaryen from 'binaryen';
import type { Import } from './wasm-module.ts';

type Module = InstanceType<typeof binaryen.Module>;

/** The tag of exceptions and jumps; exported, so that the host knows what has left `_start`. */
export const TAG = 'mayfly.exception';
export const FLAG = '__THREW__';
const INVOKE = /^invoke_[a-z]+$/;

export const isInvoke = (i: Pick<Import, 'module' | 'name'>): boolean =>
  (i.module === 'env' && INVOKE.test(i.name)) || (i.module === 'mayfly' && i.name === 'throw');

/** @param flag address of `__THREW__` */
export function defineInvokes(m: Module, flag: number): void {
  const table = binaryen.getTableInfo(m.getTableByIndex(0)).name;
  const stackPointer = stackPointerOf(m);
  m.addTag(TAG, binaryen.none, binaryen.none);
  m.addTagExport(TAG, TAG);
  const imported: string[] = [];
  for (let i = 0; i < m.getNumFunctions(); i++) {
    const f = binaryen.getFunctionInfo(m.getFunctionByIndex(i));
    if (f.base !== '' && f.module !== '' && isInvoke({ module: f.module ?? '', name: f.base ?? '' }))
      imported.push(f.name);
  }
  for (const name of imported) {
    const f = binaryen.getFunctionInfo(m.getFunction(name));
    m.removeFunction(name);
    if (f.base === 'throw') {
      m.addFunction(name, binaryen.none, binaryen.none, [], m.throw(TAG, []));
      continue;
    }
    const parameters = binaryen.expandType(f.params);
    const sp = parameters.length;
    const call = m.call_indirect(
      table,
      m.local.get(0, binaryen.i32),
      parameters.slice(1).map((type, i) => m.local.get(i + 1, type)),
      binaryen.createType(parameters.slice(1)),
      f.results,
    );
    const flagged = m.if(
      m.i32.eqz(m.i32.load(0, 4, m.i32.const(flag))),
      m.i32.store(0, 4, m.i32.const(flag), m.i32.const(1)),
    );
    const caught = m.block(null, [m.global.set(stackPointer, m.local.get(sp, binaryen.i32)), flagged]);
    const body = [
      m.local.set(sp, m.global.get(stackPointer, binaryen.i32)),
      m.try('', f.results === binaryen.none ? call : m.return(call), [TAG], [caught], ''),
      ...(f.results === binaryen.none ? [] : [zero(m, f.results)]),
    ];
    m.addFunction(name, f.params, f.results, [binaryen.i32], m.block(null, body, f.results));
  }
}

/** The linker calls it so; without names it is the first that can change. */
function stackPointerOf(m: Module): string {
  let first: string | undefined;
  for (let i = 0; i < m.getNumGlobals(); i++) {
    const g = binaryen.getGlobalInfo(m.getGlobalByIndex(i));
    if (g.name === '__stack_pointer') return g.name;
    if (g.mutable && g.type === binaryen.i32) first ??= g.name;
  }
  return first!;
}

function zero(m: Module, type: number): number {
  if (type === binaryen.i64) return m.i64.const(0n as unknown as number);
  if (type === binaryen.f32) return m.f32.const(0);
  if (type === binaryen.f64) return m.f64.const(0);
  if (type === binaryen.v128) return m.v128.const(new Array<number>(16).fill(0));
  return m.i32.const(0);
}
