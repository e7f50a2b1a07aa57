/**
 * The custom section `mayfly.lines` of a module built with -g: which line of which file an instruction of the
 * *instrumented* module belongs to.
 *
 * DWARF speaks of the module before Asyncify, whose offsets all change. But Asyncify keeps the functions' order, and in
 * each function the order of its calls; in functions that it leaves alone, also the order of everything that can trap.
 * So the n-th such instruction before is the n-th behind. A function where the counts differ keeps its first line only.
 *
 * Format: version (1), files (count, texts), places (count; each: distance of the module offset, file + 1 or 0 for
 * unknown, line), all LEB128.
 */
import { readLineRows, type LineRows } from './dwarf-lines.ts';
import { replacePlaces } from '../replace-places.ts';
import { u32 } from './wasm-edit.ts';
import { type ModuleFacts, ModuleError, Reader, readModule, sectionsOf } from './wasm-module.ts';

export const LINES = 'mayfly.lines';
const VERSION = 1;
/** Some half a million places. */
const MAX_SECTION = 2 << 20;

interface Place {
  readonly offset: number;
  readonly file: number;
  readonly line: number;
}

/** undefined: there is no line table in the linked module. */
export function lineSection(linked: Uint8Array, facts: ModuleFacts, instrumented: Uint8Array): Uint8Array | undefined {
  const table = readLineRows(linked, facts.sections);
  if (table === undefined || table.rows.length === 0) return undefined;
  const base = facts.sections.find((s) => s.id === 10)?.body ?? 0;
  const lookup = (offset: number): { file: number; line: number } => rowAt(table, offset - base);
  const after = readModule(instrumented, true);
  const places: Place[] = [];
  facts.code.bodies.forEach((body, i) => {
    const target = after.code.bodies[i];
    if (target === undefined) return;
    // Where the function begins its lines; also keeps those of the function before from reaching in.
    places.push({ offset: target.at, ...firstIn(table, body.at - base, body.at + body.length - base) });
    const [before, now] = [facts.code.sites[i]!, after.code.sites[i]!];
    const sameTraps = before.length === now.length && before.every((s, n) => s.op === now[n]!.op);
    const [from, to] = sameTraps ? [before, now] : [before.filter((s) => s.call), now.filter((s) => s.call)];
    if (from.length === to.length) from.forEach((s, n) => places.push({ offset: to[n]!.at, ...lookup(s.at) }));
  });
  places.sort((a, b) => a.offset - b.offset);
  const text = new TextEncoder();
  const out: number[] = [...u32(VERSION), ...u32(table.files.length)];
  for (const file of table.files) {
    const name = text.encode(file);
    out.push(...u32(name.length), ...name);
  }
  out.push(...u32(places.length));
  let last = 0;
  for (const p of places) {
    out.push(...u32(p.offset - last), ...u32(p.file + 1), ...u32(p.line));
    last = p.offset;
  }
  return Uint8Array.from(out);
}

const UNKNOWN = { file: -1, line: 0 };

function firstIndexBehind(table: LineRows, address: number): number {
  let [low, high] = [0, table.rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (table.rows[middle]!.address <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rowAt(table: LineRows, address: number): { file: number; line: number } {
  const row = table.rows[firstIndexBehind(table, address) - 1];
  return row === undefined || row.line === 0 ? UNKNOWN : { file: row.file, line: row.line };
}

function firstIn(table: LineRows, from: number, to: number): { file: number; line: number } {
  const row = table.rows[firstIndexBehind(table, from - 1)];
  return row === undefined || row.address >= to || row.line === 0 ? UNKNOWN : { file: row.file, line: row.line };
}

/** Line and file by module offset, from the section. */
function readPlaces(wasm: Uint8Array): { files: string[]; places: Place[] } | undefined {
  const section = sectionsOf(wasm).find((s) => s.id === 0 && s.name === LINES);
  if (section === undefined) return undefined;
  const r = new Reader(wasm, section.body, section.end);
  if (r.u32() !== VERSION) return undefined;
  // A submitted module brings a section of its own, of any length.
  if (section.end - section.body > MAX_SECTION) return undefined;
  const files: string[] = [];
  for (let n = r.u32(); n > 0; n--) files.push(r.text());
  const places: Place[] = [];
  let offset = 0;
  for (let n = r.u32(); n > 0; n--) places.push({ offset: (offset += r.u32()), file: r.u32() - 1, line: r.u32() });
  return { files, places };
}

/**
 * A stack with places of the sources: `(wasm-function[12]:0x1234)` becomes `(solver.c:40)` where the module knows it
 * (built with -g); all else stays as it is.
 * @param wasm the instrumented module that the stack comes from
 */
export const symbolise = (stack: string, wasm: Uint8Array): string => symboliser(wasm)(stack);

/** The same for many stacks of one module. */
export function symboliser(wasm: Uint8Array): (stack: string) => string {
  let table: ReturnType<typeof readPlaces>;
  try {
    table = readPlaces(wasm);
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
  }
  if (table === undefined) return (stack) => stack;
  const { files, places } = table;
  return (stack) =>
    replacePlaces(stack, /wasm-function\[\d{1,9}\]:0x([0-9a-f]{1,9})/g, /[^\w:/.-]/, (text, hex) => {
      const offset = parseInt(hex, 16);
      let [low, high] = [0, places.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (places[middle]!.offset <= offset) low = middle + 1;
        else high = middle;
      }
      const place = places[low - 1];
      return place === undefined || place.file < 0 || files[place.file] === undefined
        ? text
        : `${files[place.file]}:${place.line}`;
    });
}
