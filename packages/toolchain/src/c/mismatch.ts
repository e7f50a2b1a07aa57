/**
 * Calls of a function with another type than it has: in C mostly a call without a declaration (`#include <time.h>`
 * forgotten, a result that has become 64 bits wide). Machines take them, since arguments lie in registers; WebAssembly
 * does not, so the linker puts a stub in their place that traps when it is called. Here the stub becomes what a machine
 * does, as far as that is defined by anything: integers are cut or extended, arguments that are missing are 0, a result
 * that nobody looks at is dropped.
 *
 * What a machine would get wrong stays a trap, which names the function: a number that is an integer on one side and
 * floating on the other, and arguments too many (a variadic function, whose arguments lie elsewhere).
 */
import binaryen from 'binaryen';

type Module = InstanceType<typeof binaryen.Module>;

const STUB = 'signature_mismatch:';

/** Its declarations have it at the module; it stands beside. */
const { setBody } = (binaryen as unknown as { Function: Module['Function'] }).Function;

/** What the linker says of such calls: the functions have to be kept, since nothing but the stubs refers to them. */
export const mismatched = (messages: string): string[] => [
  ...new Set([...messages.matchAll(/function signature mismatch: (\S+)/g)].map((m) => m[1]!)),
];

/** Before Asyncify, so that a call through a stub unwinds like any other. Functions keep their order. */
export function mendMismatches(m: Module): void {
  for (let i = 0; i < m.getNumFunctions(); i++) {
    const stub = m.getFunctionByIndex(i);
    const { name, params, results } = binaryen.getFunctionInfo(stub);
    if (!name.startsWith(STUB)) continue;
    const target = targetOf(m, name.slice(STUB.length));
    const body = target && adapter(m, binaryen.expandType(params), results, target);
    if (body !== undefined) setBody(stub, body);
  }
}

/** Several stubs of one function have numbers behind their names. */
function targetOf(m: Module, name: string): ReturnType<typeof binaryen.getFunctionInfo> | undefined {
  for (const candidate of [name, name.replace(/[_.]\d+$/, '')]) {
    const f = m.getFunction(candidate);
    if (f !== 0) return binaryen.getFunctionInfo(f);
  }
  return undefined;
}

function adapter(
  m: Module,
  given: readonly number[],
  wanted: number,
  target: { name: string; params: number; results: number },
): number | undefined {
  const parameters = binaryen.expandType(target.params);
  if (given.length > parameters.length) return undefined;
  const operands = parameters.map((to, i) => {
    const from = given[i];
    return from === undefined ? zero(m, to) : converted(m, m.local.get(i, from), from, to);
  });
  if (operands.some((o) => o === undefined)) return undefined;
  const call = m.call(target.name, operands as number[], target.results);
  if (wanted === binaryen.none) return target.results === binaryen.none ? call : m.drop(call);
  if (target.results !== binaryen.none) return converted(m, call, target.results, wanted);
  const nothing = zero(m, wanted);
  return nothing && m.block(null, [call, nothing], wanted);
}

function zero(m: Module, type: number): number | undefined {
  return type === binaryen.i32 ? m.i32.const(0) : type === binaryen.i64 ? m.i64.const(0, 0) : undefined;
}

function converted(m: Module, value: number, from: number, to: number): number | undefined {
  if (from === to) return value;
  if (from === binaryen.i64 && to === binaryen.i32) return m.i32.wrap(value);
  // Signed: what is negative on one side is so on the other.
  if (from === binaryen.i32 && to === binaryen.i64) return m.i64.extend_s(value);
  return undefined;
}
