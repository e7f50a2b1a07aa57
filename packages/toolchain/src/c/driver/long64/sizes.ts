/**
 * Arithmetic of `size_t` that becomes a value of 64 bits, as in `long d = a.size() - b.size()`: with a `size_t` of 32
 * bits it would give 4294967289, where every machine with 64 bits gives -7. clang's tree shows each such conversion.
 * The operands of the arithmetic get 64 bits before it, by a function around them (../../../../compat/long64.h), so
 * that it is done in an unsigned type of 64 bits, as on those machines. In a widened text `unsigned long` is the type
 * of `size_t` and its kin, and of nothing else.
 *
 * An operand keeps its 32 bits in memory: where it may be a difference that was stored, it is extended by its sign. A
 * rank has at most 2 GiB, so no size of its own needs the highest bit. Arithmetic that becomes a floating number gets
 * no sign, and a single operand of it no function: there, sizes up to 4 G are right as they are.
 *
 * Invariants: S1 a function goes around a whole expression of the program's text, or nowhere; S2 lines keep their
 * numbers; S3 the function changes nothing but an `unsigned long`, since other instances of a template, and other
 * uses of a macro, have other types there.
 */
import { absolute } from '../../files.ts';
import { type Node, nodesOf, type Place, typeOf } from './ast-dump.ts';
import { again, argumentsAt, type SizeBuffer, sizeBuffersIn } from './size-buffers.ts';

/** For the run that shows the tree. */
export const DUMP_FLAGS = ['-fsyntax-only', '-w', '-Xclang', '-ast-dump', '-fno-color-diagnostics', '-ferror-limit=0'];

const SIGNED = '__mayfly_wide';
const UNSIGNED = '__mayfly_size';
const SENT = '__mayfly_sent';

/** A place for a function: offsets in a widened text, the end exclusive. */
export interface Wrap {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  /** What stands there. */
  readonly text: string;
  /** Arguments of the function before it. */
  readonly before?: string;
}

interface Operand {
  readonly from: Place;
  readonly to: Place;
  readonly name: string;
  /** It is subtracted, or subtracted from: it may have wrapped. */
  readonly mayWrap: boolean;
}

const SIZE = 'unsigned long';
const CAST = /^(?:ImplicitCast|CStyleCast|CXXStaticCast|CXXFunctionalCast)Expr$/;
const WIDE = /^(?:unsigned )?long long$/;
const FLOATING = /^(?:float|double|long double)$/;
const ARITHMETIC = /^BinaryOperator$/;
const OPERATOR = / '([-+*/%&|^]|<<|>>)'$/;
const SIGN = / prefix '([-~+])'/;

/** @param nodes of a widened text */
function operandsOf(nodes: readonly Node[]): Operand[] {
  const found: Operand[] = [];
  const children = (i: number): number[] => {
    const result: number[] = [];
    for (let k = i + 1; k < nodes.length && nodes[k]!.depth > nodes[i]!.depth; k++)
      if (nodes[k]!.depth === nodes[i]!.depth + 2) result.push(k);
    return result;
  };
  const collect = (i: number, name: string, alone: boolean, mayWrap: boolean): void => {
    const node = nodes[i];
    if (node === undefined || typeOf(node) !== SIZE) return;
    const go = (parts: readonly number[], wraps = mayWrap): void =>
      parts.forEach((k) => collect(k, name, false, wraps));
    const operator = ARITHMETIC.test(node.kind) ? OPERATOR.exec(node.rest)?.[1] : undefined;
    const sign = node.kind === 'UnaryOperator' ? SIGN.exec(node.rest)?.[1] : undefined;
    if (node.kind === 'ParenExpr') collect(i + 1, name, alone, mayWrap);
    else if (operator !== undefined)
      go(operator.length === 2 ? children(i).slice(0, 1) : children(i), mayWrap || operator === '-');
    else if (sign !== undefined) go(children(i), true);
    else if (node.kind === 'ConditionalOperator') go(children(i).slice(1));
    // Its type follows from that of the other operand.
    else if (node.kind === 'ImplicitCastExpr' && / <IntegralCast>/.test(node.rest)) return;
    else if (node.from !== undefined && node.to !== undefined && !(alone && name === UNSIGNED))
      found.push({ from: node.from, to: node.to, name, mayWrap });
  };
  nodes.forEach((node, i) => {
    if (!CAST.test(node.kind)) return;
    const type = typeOf(node)!;
    if (/ <IntegralCast>/.test(node.rest) && WIDE.test(type)) collect(i + 1, SIGNED, true, false);
    else if (/ <IntegralToFloating>/.test(node.rest) && FLOATING.test(type)) collect(i + 1, UNSIGNED, true, false);
  });
  return found;
}

/** Expressions: what else there is in a tree has no part in this. */
function* relevant(dump: string): Generator<Node> {
  for (const node of nodesOf(dump)) if (node.kind !== 'FullComment') yield node;
}

/** The last token of an expression. */
const LAST_TOKEN =
  /"(?:[^"\\\n]|\\.)*"\w*|'(?:[^'\\\n]|\\.)*'|\.?\d(?:[eEpP][+-]|'\w|[\w.])*|[A-Za-z_$][\w$]*|\+\+|--|[^]/y;
const QUOTED = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/\*[^]*?\*\/|\/\/[^\n]*/g;

/** S1: whether a text may be a whole expression. Two arguments of a macro are not, nor is what runs out of one. */
function isWhole(text: string): boolean {
  let depth = 0;
  let angle = false;
  for (const c of text.replace(QUOTED, ' ')) {
    if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c) && --depth < 0) return false;
    else if (c === '<') angle = true;
    else if ((c === ',' && !angle) || c === ';') {
      if (depth === 0) return false;
    }
  }
  return depth === 0;
}

/** Whether a place lies in a directive, and where that ends. */
function directiveAt(text: string, at: number): { end: number } | undefined {
  let start = text.lastIndexOf('\n', at - 1) + 1;
  while (start > 1 && /\\\r?\n$/.test(text.slice(Math.max(0, start - 3), start)))
    start = text.lastIndexOf('\n', start - 2) + 1;
  if (!/^[ \t]*#/.test(text.slice(start, start + 200))) return undefined;
  const rest = /(?:\\\r?\n|[^\n])*/y;
  rest.lastIndex = start;
  return { end: start + rest.exec(text)![0].length };
}

export interface Sizes {
  readonly wraps: ReadonlyMap<string, readonly Wrap[]>;
  /** Warnings as clang writes them: where a difference gets no function. */
  readonly warnings: readonly string[];
}

/** @param textOf the widened text of a file of the program; undefined for others */
export function sizesIn(dump: string, cwd: string, textOf: (path: string) => string | undefined): Sizes {
  const wraps = new Map<string, Map<string, Wrap>>();
  const warnings = new Set<string>();
  const starts = new Map<string, number[]>();
  const nodes = [...relevant(dump)];
  for (const { from, to, name, mayWrap } of operandsOf(nodes)) {
    const path = pathOf(from.file, cwd);
    const text = textOf(path);
    if (text === undefined) continue;
    let lines = starts.get(path);
    if (lines === undefined) starts.set(path, (lines = lineStarts(text)));
    const wrap = from.file === to.file ? wrapAt(text, lines, from, to, name) : undefined;
    if (wrap === undefined) {
      if (mayWrap) warnings.add(warningAt(from));
      continue;
    }
    let here = wraps.get(path);
    if (here === undefined) wraps.set(path, (here = new Map<string, Wrap>()));
    here.set(`${wrap.from}-${wrap.to}-${wrap.name}`, wrap);
  }
  for (const buffer of sizeBuffersIn(nodes)) {
    const path = pathOf(buffer.at.file, cwd);
    const text = textOf(path);
    if (text === undefined) continue;
    let lines = starts.get(path);
    if (lines === undefined) starts.set(path, (lines = lineStarts(text)));
    const wrap = datatypeAt(text, (lines[buffer.at.line - 1] ?? NaN) + buffer.at.column - 1, buffer);
    let here = wraps.get(path);
    if (here === undefined) wraps.set(path, (here = new Map<string, Wrap>()));
    if (wrap !== undefined) here.set(`${wrap.from}-${wrap.to}-${wrap.name}`, wrap);
  }
  return {
    wraps: new Map([...wraps].map(([path, here]) => [path, [...here.values()]])),
    warnings: [...warnings],
  };
}

/** Of the source that clang reads from its standard input. */
export const STDIN = '<stdin>';
const pathOf = (file: string, cwd: string): string => (file === STDIN ? STDIN : absolute(cwd, file));

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function wrapAt(text: string, lines: readonly number[], from: Place, to: Place, name: string): Wrap | undefined {
  const [first, last] = [from, to].map((p) => (lines[p.line - 1] ?? NaN) + p.column - 1);
  if (!(first! <= last!)) return undefined;
  LAST_TOKEN.lastIndex = last!;
  const end = last! + (LAST_TOKEN.exec(text)?.[0].length ?? 0);
  const here = text.slice(first, end);
  if (!isWhole(here)) return undefined;
  const directive = directiveAt(text, first!);
  if (directive === undefined ? /^[ \t]*#/m.test(here) : end > directive.end) return undefined;
  return { from: first!, to: end, name: directive === undefined ? name : `${name}_any`, text: here };
}

/** Around the datatype of a buffer of sizes (size-buffers.ts). */
function datatypeAt(text: string, at: number, b: SizeBuffer): Wrap | undefined {
  const list = argumentsAt(text, at, b.arguments);
  const [type, buffer] = [list?.[b.datatype], list?.[b.buffer]];
  if (type === undefined || buffer === undefined) return undefined;
  const here = text.slice(type.from, type.to);
  const shown = again(text.slice(buffer.from, buffer.to), b.converted);
  if (b.kind === undefined && shown === undefined) return undefined;
  const before = b.kind === undefined ? `__mayfly_kind_of((${shown!})), ` : `${b.kind}, `;
  return { ...type, name: SENT, text: here, before };
}

/** Those around datatypes. */
export const ofBuffers = (wraps: Sizes['wraps']): Sizes['wraps'] =>
  new Map(
    [...wraps]
      .map(([path, here]) => [path, here.filter((w) => w.name === SENT)] as const)
      .filter(([, here]) => here.length > 0),
  );

const warningAt = ({ file, line, column }: Place): string =>
  `${file}:${line}:${column}: warning: a difference of sizes of 32 bits is converted to 64 bits by a macro: if it can ` +
  `be negative, convert its operands first, as in (long)n [-mlong64]\n`;

/** The text with the functions. What no longer stands where it was is left alone. */
export function withWraps(text: string, wraps: readonly Wrap[] | undefined): string {
  if (wraps === undefined || wraps.length === 0) return text;
  const inserts: { readonly at: number; readonly text: string; readonly opens: boolean }[] = [];
  // Of two that begin in one place, the outer one comes first.
  for (const w of [...wraps].sort((a, b) => b.to - a.to)) {
    if (text.slice(w.from, w.to) !== w.text) continue;
    inserts.push(
      { at: w.from, text: `${w.name}(${w.before ?? ''}`, opens: true },
      { at: w.to, text: ')', opens: false },
    );
  }
  inserts.sort((a, b) => a.at - b.at || Number(a.opens) - Number(b.opens));
  const out: string[] = [];
  let done = 0;
  for (const i of inserts) {
    out.push(text.slice(done, i.at), i.text);
    done = i.at;
  }
  return out.join('') + text.slice(done);
}
