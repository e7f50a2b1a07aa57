/**
 * The files of a program as clang sees them in one compilation with `-mlong64`: their text is widened (widen.ts) when
 * clang asks for them. Owns the widened texts, by path.
 *
 * Invariants: P1 a file has one text throughout a run of clang, and its size is that text's; P2 files that are no text
 * (with a byte 0), those that `#embed` names, and our mpi.h (`--showme:compile` names its folder) are not widened;
 * P3 nothing of this reaches the tree below.
 */
import { posix } from 'node:path';
import type { FileStat, FileTree } from '../../files.ts';
import type { Edit } from './edit.ts';
import { passesFormats, withFormatAttributes, withoutFormatAttributes } from './formats.ts';
import { taggedHeader } from './mpi-tags.ts';
import { calledWithLong, pastingMacros } from './pasting.ts';
import { ofTwoTypes, type Repeated, without } from './repeated.ts';
import { type Sizes, STDIN, withWraps } from './sizes.ts';
import { widen, type WidenOptions } from './widen.ts';

const OWN_HEADER = /^\/\*[^]{0,1000}\n#ifndef MAYFLY_MPI_H\n/;

/** Directives that say where lines come from. */
const OTHER_LINES = /^[ \t]*#[ \t]*(?:line\b|\d)/m;

export class ProgramFiles implements FileTree {
  readonly #base: FileTree;
  readonly #options: WidenOptions;
  readonly #texts = new Map<string, Uint8Array>();
  readonly #embedded = new Set<string>();
  #settled = false;
  #marks = true;
  readonly #omitted: readonly Repeated[];
  #sizes: Sizes['wraps'] | undefined;
  readonly #pasting = new Set<string>();
  readonly #called = new Set<string>();
  /** A text that was read differs from the program's. */
  differs = false;
  /** A text that was read has functions that pass a format on. */
  passesFormats = false;

  /** @param omitted what their texts do not have */
  constructor(base: FileTree, options: WidenOptions, omitted: readonly Repeated[] = []) {
    this.#base = base;
    this.#options = options;
    this.#omitted = omitted;
  }

  /** Whether functions that pass a format on have clang's attribute for them from now on. */
  mark(marks: boolean): void {
    if (marks !== this.#marks) this.#texts.clear();
    this.#marks = marks;
  }

  /** Gives operands of type `size_t` their 64 bits from now on (sizes.ts). */
  wrap(sizes: Sizes['wraps']): void {
    this.#sizes = sizes;
    this.#texts.clear();
  }

  /** A text that was read, when it is the program's and its lines have their places. */
  textOf(path: string): string | undefined {
    const bytes = this.#texts.get(path) ?? [...this.#texts].find(([p]) => posix.normalize(p) === path)?.[1];
    if (bytes === undefined || bytes.includes(0) || bytes === taggedHeader()) return undefined;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    return OTHER_LINES.test(text) ? undefined : text;
  }

  stat(path: string): FileStat | undefined {
    const stat = this.#base.stat(path);
    return stat?.kind === 'file' ? { ...stat, size: this.read(path)?.length ?? stat.size } : stat;
  }

  read(path: string): Uint8Array | undefined {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const bytes = this.#base.read(path);
    if (bytes === undefined) return undefined;
    const text = this.#embedded.has(posix.basename(path)) ? bytes : this.#widened(bytes, path);
    this.#texts.set(path, text);
    return text;
  }

  /** The source text when it comes from there, as {@link read} gives that of a file. */
  standardInput(bytes: Uint8Array): Uint8Array {
    const text = this.#texts.get(STDIN) ?? this.#widened(bytes, STDIN);
    this.#texts.set(STDIN, text);
    return text;
  }

  /** Macros of the texts read so far that paste what may be `long` in their calls. */
  pastingLong(): Set<string> {
    return new Set([...this.#pasting].filter((name) => this.#called.has(name)));
  }

  /** Whether these can be left out of the texts (repeated.ts). */
  canOmit(repeated: readonly Repeated[]): boolean {
    const source = (path: string): string | undefined => {
      const bytes = this.#base.read(path);
      return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    };
    const wide = (path: string): string | undefined => {
      const text = source(path);
      return text === undefined ? undefined : this.#without(widen(text, this.#options), path);
    };
    const texts = { widened: wide, original: source, widen: (text: string) => widen(text, this.#options) };
    return repeated.every((r) => without(wide(r.path) ?? '', r) !== undefined && ofTwoTypes(r, texts));
  }

  #without(text: string, path: string): string {
    const here = this.#omitted.filter((r) => r.path === posix.normalize(path));
    return here.reduce((t, r) => without(t, r) ?? t, text);
  }

  #widened(bytes: Uint8Array, path: string): Uint8Array {
    if (bytes.includes(0)) return bytes;
    // One character for each byte, so that any encoding passes through.
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    if (OWN_HEADER.test(source)) return this.#settled ? bytes : taggedHeader();
    for (const m of source.matchAll(/#[ \t]*embed[ \t]*["<]([^">\n]+)[">]/g)) this.#embedded.add(posix.basename(m[1]!));
    for (const name of pastingMacros(source)) this.#pasting.add(name);
    for (const name of calledWithLong(source)) this.#called.add(name);
    const wide = this.#without(widen(source, this.#options), path);
    const text = withWraps(wide, this.#sizes?.get(posix.normalize(path)));
    this.differs ||= text !== source;
    this.passesFormats ||= passesFormats(text);
    const marked = this.#settled || !this.#marks ? text : withFormatAttributes(text, this.#options.language);
    return Buffer.from(marked, 'latin1');
  }

  /**
   * Makes the texts final after a check: with these edits, and without the attributes that were there for the check.
   */
  settle(edits: readonly Edit[]): void {
    this.#settled = true;
    for (const [path, bytes] of this.#texts) {
      if (bytes === taggedHeader()) this.#texts.delete(path);
      if (bytes.includes(0) || bytes === taggedHeader()) continue;
      const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').split('\n');
      const here = new Map(
        edits.filter((e) => e.path === posix.normalize(path)).map((e) => [`${e.line}:${e.from}`, e]),
      );
      for (const e of [...here.values()].sort((a, b) => b.from - a.from)) {
        const line = lines[e.line - 1] ?? '';
        lines[e.line - 1] = line.slice(0, e.from - 1) + e.text + line.slice(e.to - 1);
      }
      this.#texts.set(path, Buffer.from(withoutFormatAttributes(lines.join('\n')), 'latin1'));
    }
  }

  list(path: string): string[] | undefined {
    return this.#base.list(path);
  }
  write(path: string, bytes: Uint8Array, executable?: boolean): void {
    this.#texts.delete(path);
    this.#base.write(path, bytes, executable);
  }
  makeDirectory(path: string): void {
    this.#base.makeDirectory(path);
  }
  remove(path: string, kind: 'file' | 'directory'): void {
    this.#texts.delete(path);
    this.#base.remove(path, kind);
  }
  rename(from: string, to: string): void {
    this.#texts.delete(from);
    this.#texts.delete(to);
    this.#base.rename(from, to);
  }
}
