/**
 * Tentative definitions (`int n;` in a header that several files include): C lets them be one object, older compilers
 * made them "common", wasm objects know no common symbols. So where the linker finds a name twice, its zero-initialised
 * definitions become weak: an initialised one wins, else the first. A change of one bit per symbol, in objects and in
 * archives of them.
 */
import { ModuleError, Reader, sectionsOf } from '../wasm-module.ts';

const BINDING_WEAK = 1;
const UNDEFINED = 0x10;
const EXPLICIT_NAME = 0x40;
const SEGMENT_INFO = 5;
const SYMBOL_TABLE = 8;

/**
 * A copy with the zero-initialised data symbols among `names` made weak; undefined when there is none (or it is no wasm
 * object).
 */
export function weakenTentative(bytes: Uint8Array, names: ReadonlySet<string>): Uint8Array | undefined {
  const copy = bytes.slice();
  let any = false;
  for (const [from, to] of members(copy)) if (weakenObject(copy.subarray(from, to), names)) any = true;
  return any ? copy : undefined;
}

/** Where the objects of an archive lie; of another file, the whole. */
export function* members(bytes: Uint8Array): Generator<[number, number]> {
  const ascii = (from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to));
  if (ascii(0, 8) !== '!<arch>\n') return yield [0, bytes.length];
  for (let at = 8; at + 60 <= bytes.length;) {
    const size = Number(ascii(at + 48, at + 58).trim());
    if (!Number.isSafeInteger(size)) return;
    yield [at + 60, at + 60 + size];
    at += 60 + size + (size & 1);
  }
}

function weakenObject(object: Uint8Array, names: ReadonlySet<string>): boolean {
  try {
    const section = sectionsOf(object).find((s) => s.id === 0 && s.name === 'linking');
    return section !== undefined && weakenSymbols(object, section.body, section.end, names);
  } catch (error) {
    if (error instanceof ModuleError) return false;
    throw error;
  }
}

function weakenSymbols(object: Uint8Array, from: number, end: number, names: ReadonlySet<string>): boolean {
  const r = new Reader(object, from, end);
  if (r.u32() !== 2) return false;
  const parts = new Map<number, [number, number]>();
  while (!r.done) {
    const type = r.byte();
    const length = r.u32();
    parts.set(type, [r.at, r.at + length]);
    r.skip(length);
  }
  const segments: string[] = [];
  const info = parts.get(SEGMENT_INFO);
  const table = parts.get(SYMBOL_TABLE);
  if (info === undefined || table === undefined) return false;
  const s = new Reader(object, ...info);
  for (let n = s.u32(); n > 0; n--) {
    segments.push(s.text());
    s.u32();
    s.u32();
  }
  let any = false;
  const t = new Reader(object, ...table);
  for (let n = t.u32(); n > 0; n--) {
    const kind = t.byte();
    const flagsAt = t.at;
    const flags = t.u32();
    const defined = (flags & UNDEFINED) === 0;
    if (kind === 1) {
      const name = t.text();
      if (!defined) continue;
      const segment = t.u32();
      t.u32();
      t.u32();
      if (names.has(name) && (segments[segment] ?? '').startsWith('.bss')) {
        object[flagsAt]! |= BINDING_WEAK;
        any = true;
      }
    } else if (kind === 3) t.u32();
    else {
      t.u32();
      if (defined || (flags & EXPLICIT_NAME) !== 0) t.text();
    }
  }
  return any;
}
