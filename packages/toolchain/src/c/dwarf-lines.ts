/**
 * The line table of a linked module: from DWARF's `.debug_line` (versions 4 and 5, as clang writes it with -g) to rows
 * by address. Addresses of wasm count from the start of the code section's contents. Anything unexpected ends that
 * unit, never the link.
 */
import type { Section } from './wasm-module.ts';

export interface LineRows {
  readonly files: readonly string[];
  /** By address; a row holds until the next one. File −1: nothing known from here on. */
  readonly rows: readonly { readonly address: number; readonly file: number; readonly line: number }[];
}

interface Unit {
  readonly files: string[];
  readonly base: number;
}

export function readLineRows(wasm: Uint8Array, sections: readonly Section[]): LineRows | undefined {
  const find = (name: string): Section | undefined => sections.find((s) => s.id === 0 && s.name === name);
  const lines = find('.debug_line');
  if (lines === undefined) return undefined;
  const strings = { line: find('.debug_line_str'), str: find('.debug_str') };
  const files: string[] = [];
  const index = new Map<string, number>();
  const rows: { address: number; file: number; line: number }[] = [];
  const text = (from: number, end: number): string => {
    let to = from;
    while (to < end && wasm[to] !== 0) to++;
    return new TextDecoder().decode(wasm.subarray(from, to));
  };
  const pooled = (s: Section | undefined, offset: number): string =>
    s === undefined ? '' : text(s.body + offset, s.end);
  const fileIndex = (name: string): number => {
    let i = index.get(name);
    if (i === undefined) index.set(name, (i = files.push(name) - 1));
    return i;
  };

  for (let at = lines.body; at + 4 <= lines.end;) {
    const length = u32le(wasm, at);
    const end = at + 4 + length;
    if (length >= 0xfffffff0 || end > lines.end) break;
    try {
      readUnit(new Bytes(wasm, at + 4, end), end);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    at = end;
  }
  rows.sort((a, b) => a.address - b.address || a.line - b.line);
  return { files, rows };

  function readUnit(r: Bytes, end: number): void {
    const version = r.uint(2);
    if (version !== 4 && version !== 5) return;
    if (version === 5) r.skip(2);
    const program = r.uint(4) + r.at;
    r.skip(2 + 1);
    const lineBase = (r.uint(1) << 24) >> 24;
    const lineRange = r.uint(1);
    const opcodeBase = r.uint(1);
    const lengths = Array.from({ length: opcodeBase - 1 }, () => r.uint(1));
    const unit = version === 5 ? headerOf5(r) : headerOf4(r, end);
    r.at = program;
    runProgram(r, end, unit, { lineBase, lineRange, opcodeBase, lengths });
  }

  function headerOf5(r: Bytes): Unit {
    const entries = (): { path: string; directory: number }[] => {
      const formats = Array.from({ length: r.uint(1) }, () => [r.uleb(), r.uleb()] as const);
      return Array.from({ length: Math.min(r.uleb(), 1 << 16) }, () => {
        const entry = { path: '', directory: 0 };
        for (const [content, form] of formats) {
          const value = formValue(r, form);
          if (content === 1) entry.path = String(value);
          else if (content === 2) entry.directory = Number(value);
        }
        return entry;
      });
    };
    const directories = entries().map((d) => d.path);
    return {
      files: entries().map((f) => named(f.path, directories[f.directory] ?? '', directories[0] ?? '')),
      base: 0,
    };
  }

  function formValue(r: Bytes, form: number): string | number {
    switch (form) {
      case 0x08: {
        const s = text(r.at, r.end);
        r.skip(new TextEncoder().encode(s).length + 1);
        return s;
      }
      case 0x1f:
        return pooled(strings.line, r.uint(4));
      case 0x0e:
        return pooled(strings.str, r.uint(4));
      case 0x0b:
        return r.uint(1);
      case 0x05:
        return r.uint(2);
      case 0x06:
        return r.uint(4);
      case 0x0f:
        return r.uleb();
      case 0x1e:
        r.skip(16);
        return 0;
      case 0x09:
        r.skip(r.uleb());
        return 0;
      default:
        throw new RangeError('form');
    }
  }

  function headerOf4(r: Bytes, end: number): Unit {
    const string = (): string => {
      const s = text(r.at, end);
      r.skip(new TextEncoder().encode(s).length + 1);
      return s;
    };
    const directories = [''];
    for (let d = string(); d !== ''; d = string()) directories.push(d);
    const names: string[] = [];
    for (let f = string(); f !== ''; f = string()) {
      names.push(named(f, directories[r.uleb()] ?? '', ''));
      r.uleb();
      r.uleb();
    }
    return { files: names, base: 1 };
  }

  function runProgram(
    r: Bytes,
    end: number,
    unit: Unit,
    h: { lineBase: number; lineRange: number; opcodeBase: number; lengths: readonly number[] },
  ): void {
    let [address, file, line] = [0, 1, 1];
    let alive = true;
    const emit = (last: boolean): void => {
      // Functions that the linker dropped stand at 0 or at the end of the address space.
      if (alive && address > 0 && address < 0xfffffff0)
        rows.push({ address, file: last ? -1 : fileIndex(unit.files[file - unit.base] ?? '?'), line: last ? 0 : line });
    };
    while (r.at < end) {
      const op = r.uint(1);
      if (op >= h.opcodeBase) {
        const n = op - h.opcodeBase;
        address += Math.floor(n / h.lineRange);
        line += h.lineBase + (n % h.lineRange);
        emit(false);
      } else if (op === 0) {
        const length = r.uleb();
        const next = r.at + length;
        const sub = r.uint(1);
        if (sub === 1) {
          emit(true);
          [address, file, line, alive] = [0, 1, 1, true];
        } else if (sub === 2) {
          address = r.uint(4);
          alive = address !== 0 && address < 0xfffffff0;
        }
        r.at = next;
      } else if (op === 1) emit(false);
      else if (op === 2) address += r.uleb();
      else if (op === 3) line += r.sleb();
      else if (op === 4) file = r.uleb();
      else if (op === 8) address += Math.floor((255 - h.opcodeBase) / h.lineRange);
      else if (op === 9) address += r.uint(2);
      else for (let n = h.lengths[op - 1] ?? 0; n > 0; n--) r.uleb();
    }
  }
}

/** As the user named it: without the folder that the compiler ran in. */
function named(path: string, directory: string, compiled: string): string {
  if (path.startsWith('/') || directory === '' || directory === compiled) return withoutPrefix(path, compiled);
  return withoutPrefix(`${directory}/${path}`, compiled);
}
const withoutPrefix = (path: string, prefix: string): string =>
  prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : path;

const u32le = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);

/** Little-endian numbers of DWARF; @throws RangeError behind the end. */
class Bytes {
  at: number;
  readonly end: number;
  readonly #bytes: Uint8Array;
  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes;
    this.at = at;
    this.end = end;
  }

  skip(n: number): void {
    if (n > this.end - this.at) throw new RangeError('end');
    this.at += n;
  }

  uint(size: number): number {
    const from = this.at;
    this.skip(size);
    let value = 0;
    for (let i = size - 1; i >= 0; i--) value = value * 256 + this.#bytes[from + i]!;
    return value;
  }

  uleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const b = this.uint(1);
      value += (b & 0x7f) * scale;
      if (b < 0x80) return value;
      if (scale > 2 ** 56) throw new RangeError('number');
    }
  }

  sleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const b = this.uint(1);
      value += (b & 0x7f) * scale;
      if (b < 0x80) return (b & 0x40) !== 0 ? value - scale * 128 : value;
      if (scale > 2 ** 56) throw new RangeError('number');
    }
  }
}
