/**
 * Buffers of `size_t` and `ptrdiff_t` in calls of MPI. On a 64-bit machine they are what MPI_UNSIGNED_LONG and MPI_LONG
 * name. Here they have 32 bits, so the datatype of such a call goes through a function of mpi.h: of an integer of 64
 * bits it makes the one that has 32 bits in memory and 64 in the message (packages/mpi/src/narrow.ts). clang's tree
 * shows the type of each buffer, or at least its name, and then the compiler tells what that stands for; a datatype may
 * be a variable.
 *
 * Invariants: B1 the function goes around a datatype whose buffers all are of that kind wherever the call is used, or
 * else says it by the buffer's type; B2 what gets none is still refused by clang's check (mpi-tags.ts).
 */
import { type Node, type Place, typeOf } from './ast-dump.ts';
import { datatypesOf } from './mpi-tags.ts';

/** As the function of mpi.h takes it: `size_t`, `ptrdiff_t`. */
type Kind = 1 | 2;

export interface SizeBuffer {
  /** The function's name in the text. */
  readonly at: Place;
  readonly arguments: number;
  readonly datatype: number;
  /** Undefined: the tree does not say it, or not the same at each use of the text. */
  readonly kind: Kind | undefined;
  /** The argument that tells the kind. */
  readonly buffer: number;
  /** The program converts it to `void *`. */
  readonly converted: boolean;
}

const CALLEE = / Function 0x[\da-f]+ '(P?MPI_\w+)' /;
const IMPLICIT = /^(?:ImplicitCast|Paren)Expr$/;
const CAST = /^(?:ImplicitCast|CStyleCast|CXXStaticCast|CXXReinterpretCast|CXXConstCast|Paren)Expr$/;
const VOID = /^(?:(?:const|volatile) )*void \*/;
const POINTER = ' ?(?:\\*[\\w ]*|\\(\\*\\)(?:\\[\\d+\\])+)$';
const CV = '^(?:(?:const|volatile) )*';
/** The tree does not say what all names stand for, but these are known. */
const UNSIGNED = new RegExp(`${CV}(?:unsigned long|(?:std::)?(?:size_t|uintptr_t))${POINTER}`);
const SIGNED = new RegExp(`${CV}(?:long|MPI_Aint|(?:std::)?(?:ptrdiff_t|intptr_t|ssize_t))${POINTER}`);
const OTHER = new RegExp(
  `${CV}(?:(?:unsigned |signed )?(?:char|short|int|long long)|float|double|long double|bool|_Bool|(?:struct|union|enum) \\w+)${POINTER}`,
);

const NUMBER = /^(?:(?:unsigned )?(?:int|long|long long)|(?:std::)?nullptr_t)$/;

/** What a call says of one of its datatypes. 'maybe': a name may stand for one of the types. */
type Said = Kind | 'maybe' | 'other' | 'nothing';

/** @param nodes of a widened text */
export function sizeBuffersIn(nodes: readonly Node[]): SizeBuffer[] {
  const found = new Map<string, SizeBuffer & { said: Set<Said> }>();
  nodes.forEach((node, i) => {
    if (node.kind !== 'CallExpr') return;
    const children = childrenOf(nodes, i);
    const callee = calleeOf(nodes, children[0]);
    if (callee?.node.from === undefined) return;
    const at = callee.node.from;
    for (const { datatype, buffers } of datatypesOf(callee.name)) {
      const each = buffers.map((b) => ({ buffer: b, ...saidBy(nodes, children[b + 1]) }));
      const telling = each.filter((e) => e.said !== 'nothing');
      if (telling.length === 0) continue;
      const first = telling.find((e) => e.said !== 'maybe') ?? telling[0]!;
      const said = telling.find((e) => e.said === 'other')?.said ?? first.said;
      const key = `${at.file}:${at.line}:${at.column}:${datatype}`;
      const before = found.get(key);
      if (before !== undefined) before.said.add(said);
      else {
        const { buffer, converted } = first;
        const b = { at, arguments: children.length - 1, datatype, buffer, converted, kind: undefined };
        found.set(key, { ...b, said: new Set([said]) });
      }
    }
  });
  return [...found.values()].flatMap(({ said, ...b }) => {
    if (said.size === 1 && said.has('other')) return [];
    const [only] = said;
    return [{ ...b, kind: said.size === 1 && typeof only === 'number' ? only : undefined }];
  });
}

function childrenOf(nodes: readonly Node[], i: number): number[] {
  const result: number[] = [];
  for (let k = i + 1; k < nodes.length && nodes[k]!.depth > nodes[i]!.depth; k++)
    if (nodes[k]!.depth === nodes[i]!.depth + 2) result.push(k);
  return result;
}

/** The function that is called by its name. */
function calleeOf(nodes: readonly Node[], i: number | undefined): { node: Node; name: string } | undefined {
  for (let k = i ?? nodes.length; nodes[k] !== undefined; k++) {
    const node = nodes[k]!;
    if (node.kind === 'DeclRefExpr') {
      const name = CALLEE.exec(node.rest)?.[1];
      return name === undefined ? undefined : { node, name };
    }
    if (!IMPLICIT.test(node.kind)) return undefined;
  }
  return undefined;
}

/** The program may convert a buffer to `void *` itself. */
function saidBy(nodes: readonly Node[], i: number | undefined): { said: Said; converted: boolean } {
  let converted = false;
  for (let k = i ?? nodes.length; nodes[k] !== undefined; k++) {
    const node = nodes[k]!;
    const type = typeOf(node);
    if (type === undefined) return { said: 'maybe', converted };
    // A number: MPI_IN_PLACE.
    if (NUMBER.test(type)) break;
    if (!VOID.test(type)) {
      const said = UNSIGNED.test(type) ? 1 : SIGNED.test(type) ? 2 : OTHER.test(type) ? 'other' : 'maybe';
      return { said, converted };
    }
    if (!CAST.test(node.kind)) break;
    if (!IMPLICIT.test(node.kind)) converted = true;
  }
  return { said: 'nothing', converted };
}

const CONVERSION =
  /^\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)\s*|^(?:static|reinterpret|const)_cast\s*<[^<>]*\bvoid\b[^<>]*>\s*/;

/** The text of a buffer once more, on one line; undefined: it cannot be written so. */
export function again(text: string, converted: boolean): string | undefined {
  const line = text.replace(/\s*(?:\\\r?)?\n\s*/g, ' ');
  if (/\/[/*]/.test(line)) return undefined;
  if (!converted) return line;
  const inner = line.replace(CONVERSION, '');
  return inner === line ? undefined : inner;
}

/** Where arguments stand behind a name: offsets, without the space around; undefined: not as many as these. */
export function argumentsAt(text: string, at: number, count: number): { from: number; to: number }[] | undefined {
  const open = /\w+\s*\(/y;
  open.lastIndex = at;
  if (!open.test(text)) return undefined;
  const token = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\*[^]*?\*\/|\/\/[^\n]*|[^]/y;
  token.lastIndex = open.lastIndex;
  const list: { from: number; to: number }[] = [];
  let from = open.lastIndex;
  for (let depth = 0, m = token.exec(text); m !== null; m = token.exec(text)) {
    const c = m[0];
    if ((c === ',' || c === ')') && depth === 0) {
      const whole = text.slice(from, m.index);
      const start = from + (whole.length - whole.trimStart().length);
      list.push({ from: start, to: start + whole.trim().length });
      if (c === ')') return list.length === count && list.every((a) => a.to > a.from) ? list : undefined;
      from = token.lastIndex;
    } else if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) depth--;
  }
  return undefined;
}
