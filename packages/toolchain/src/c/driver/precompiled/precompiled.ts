/**
 * C++ with precompiled headers of the library: a source that begins with includes of libc++'s headers gets them from a
 * file in the folder of remembered calls, made at the first need. Reading them is most of what a small C++ file costs.
 *
 * A precompiled header holds some of libc++'s headers, nothing of the program, and may lie over another one. It is used
 * for a source that includes all of them in any case and before anything that they could depend on
 * (leading-includes.ts), compiled with the options that its key has (flags.ts), and with no folder in which one of the
 * library's names is another file.
 *
 * Invariants:
 *   P1  an object has the same code with a precompiled header as without;
 *   P2  what clang says names the places that it would name without: a compilation that fails, or whose warnings name a
 *       system header, is repeated in the ordinary way;
 *   P3  a precompiled header that is missing, damaged or refused by clang makes an ordinary compilation.
 */
import { createHash } from 'node:crypto';
import { absolute, MemoryFiles } from '../../files.ts';
import { llvmVersion, sysrootFiles } from '../../llvm.ts';
import { resources } from '../../resources.ts';
import type { WasiResult } from '../../wasi-process.ts';
import type { Input } from '../arguments.ts';
import type { CallStore } from '../cache/call-store.ts';
import { type DriverRun, type PrecompiledHeaders, TEMPORARY } from '../run.ts';
import { headerFlags } from './flags.ts';
import { collectNames, type HeaderNames, namesOf } from './header-names.ts';
import { isCxxHeader, weight } from './header-weights.ts';
import { leadingIncludes } from './leading-includes.ts';

export interface CxxSource {
  readonly clang: string;
  readonly source: Input;
  /** What every compilation gets, with these options of the user's. */
  readonly flags: (clang: readonly string[], source: Pick<Input, 'kind' | 'language'>, cwd: string) => string[];
  /** Of the user's. */
  readonly options: readonly string[];
}

/** Of text that no precompiled header has: from here on it pays to make one. */
const WORTH_BYTES = 500_000;
/** Precompiled headers for one set of options. */
const MAX_SETS = 12;
/** Kept in memory, in each thread. */
const MAX_READ = 3;
/** Most others bring what it brings, so they lie over it. */
const BASE = 'vector';

/** Headers, sorted; that below it, if any, has a part of them. */
interface HeaderSet {
  readonly headers: readonly string[];
  readonly below?: readonly string[];
}

const keyOf = (...parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(['precompiled', ...parts]))
    .digest('hex');

const names = new Map<string, HeaderNames>();
interface ReadFile {
  readonly hash: string;
  readonly bytes: Uint8Array;
}
const read = new WeakMap<CallStore, Map<string, ReadFile>>();
/** Those that clang did not make, or did not take. */
const failed = new Set<string>();

/** @param path of a precompiled header, from {@link precompiledFor} */
export function compileCxx(path: string | undefined, compile: (more: readonly string[]) => WasiResult): WasiResult {
  if (path === undefined) return compile([]);
  const r = compile(['-include-pch', path]);
  // P2, P3
  if (!refuses(r, path) && r.exit === 0 && !new TextDecoder().decode(r.stderr).includes('/.mayfly/')) return r;
  return compile([]);
}

/** Whether clang did not take a precompiled header, which is then not tried again. */
export function refuses(r: WasiResult, path: string): boolean {
  const refused = new TextDecoder().decode(r.stderr).includes(path);
  if (refused) failed.add(path);
  return refused;
}

/** @returns the path of a precompiled header for this source; undefined when it is to be compiled without */
export function precompiledFor(run: DriverRun, headers: PrecompiledHeaders, c: CxxSource): string | undefined {
  if (c.source.kind !== 'c++' || c.source.language !== undefined) return undefined;
  const { files, cwd } = run.options;
  const known = namesIn(headers);
  const of = headerFlags(c.options, known);
  const text = of && files.read(absolute(cwd, c.source.path));
  if (of === undefined || text === undefined) return undefined;
  const own = (name: string): boolean =>
    ['include', 'compat/include'].some((f) => resources().files.stat(`/${f}/${name}`) !== undefined);
  const found = leadingIncludes(c.source.path, new TextDecoder().decode(text), {
    ...of,
    own,
    files,
    cwd,
    names: known,
  });
  const wanted = [...found].filter(isCxxHeader).sort();
  if (weight(wanted) < WORTH_BYTES) return undefined;
  for (const folder of new Set([...of.folders, ...of.later]))
    if (known.included.some((name) => files.stat(absolute(cwd, `${folder}/${name}`)) !== undefined)) return undefined;
  const path = new Sets(run, headers, c, of.flags).path(wanted);
  return path === undefined || failed.has(path) ? undefined : path;
}

function namesIn({ store, version }: PrecompiledHeaders): HeaderNames {
  let known = names.get(version);
  if (known === undefined) {
    const key = keyOf('names', version);
    let text = store.record(key);
    if (text === undefined) {
      text = collectNames([sysrootFiles(), resources().files]);
      store.writeRecord(key, text);
    }
    names.set(version, (known = namesOf(text)));
  }
  return known;
}

/** The precompiled headers that are compiled with the same options. */
class Sets {
  readonly #run: DriverRun;
  readonly #store: CallStore;
  readonly #c: CxxSource;
  readonly #command: readonly string[];
  readonly #key: string;

  constructor(run: DriverRun, { store, version }: PrecompiledHeaders, c: CxxSource, flags: readonly string[]) {
    this.#run = run;
    this.#store = store;
    this.#c = c;
    this.#command = c.flags(flags, { kind: 'c++', language: 'c++-header' }, '/');
    this.#key = keyOf(version, llvmVersion(), c.clang, this.#command);
  }

  path(wanted: readonly string[]): string | undefined {
    const best = this.#best(wanted);
    const missing = weight(wanted, best?.headers);
    if (missing < WORTH_BYTES) return best && this.#ready(best);
    const first = wanted.includes(BASE) && best === undefined ? this.#made({ headers: [BASE] }) : best;
    const whole =
      first === undefined || weight(wanted, first.headers) >= WORTH_BYTES
        ? this.#made({ headers: wanted, ...(first && { below: first.headers }) })
        : undefined;
    const set = whole ?? first;
    return set && this.#ready(set);
  }

  #sets(): HeaderSet[] {
    const text = this.#store.record(this.#key);
    return text === undefined ? [] : (JSON.parse(text) as HeaderSet[]);
  }

  /** The largest of those that can be read. */
  #best(wanted: readonly string[]): HeaderSet | undefined {
    return this.#sets()
      .filter((s) => s.headers.every((h) => wanted.includes(h)))
      .map((set) => ({ set, bytes: weight(set.headers) }))
      .sort((a, b) => b.bytes - a.bytes)
      .find(({ set }) => this.#ready(set) !== undefined)?.set;
  }

  #find(headers: readonly string[]): HeaderSet | undefined {
    return this.#sets().find((s) => s.headers.join() === headers.join());
  }

  #nameOf = (set: HeaderSet): string => keyOf(this.#key, set.headers, set.below ?? []);
  #pathOf = (set: HeaderSet): string => `/${this.#nameOf(set).slice(0, 24)}`;

  /** Puts it and those below it among the run's files; P3: what cannot be read is forgotten, and made again. */
  #ready(set: HeaderSet): string | undefined {
    const below = set.below && this.#find(set.below);
    const under = below && this.#ready(below);
    const bytes = set.below !== undefined && under === undefined ? undefined : this.#read(this.#nameOf(set));
    if (bytes === undefined) {
      this.#list(this.#sets().filter((s) => s.headers.join() !== set.headers.join()));
      return undefined;
    }
    const path = this.#pathOf(set);
    this.#run.temporary.write(`${path}.hh`, textOf(set));
    this.#run.temporary.write(`${path}.pch`, bytes);
    return `${TEMPORARY}${path}.pch`;
  }

  #read(name: string): Uint8Array | undefined {
    let file = read.get(this.#store)?.get(name);
    if (file === undefined) {
      const hash = this.#store.record(name);
      const bytes = hash === undefined ? undefined : this.#store.get(hash);
      if (bytes === undefined) return undefined;
      file = { hash: hash!, bytes };
    }
    this.#keep(name, file);
    this.#store.touch([name, this.#key], [file.hash]);
    return file.bytes;
  }

  #keep(name: string, file: ReadFile): void {
    let kept = read.get(this.#store);
    if (kept === undefined) read.set(this.#store, (kept = new Map<string, ReadFile>()));
    kept.delete(name);
    kept.set(name, file);
    for (const old of [...kept.keys()].slice(0, -MAX_READ)) kept.delete(old);
  }

  /** Undefined: another process is about to make it, or clang did not. */
  #made(set: HeaderSet): HeaderSet | undefined {
    const name = this.#nameOf(set);
    if (failed.has(name) || !this.#store.claim(name)) return undefined;
    try {
      const below = set.below && this.#find(set.below);
      const under = below && this.#ready(below);
      if (set.below !== undefined && under === undefined) return undefined;
      const path = this.#pathOf(set);
      this.#run.temporary.write(`${path}.hh`, textOf(set));
      const r = this.#run.llvmOver(
        { base: new MemoryFiles(), stdin: undefined },
        this.#c.clang,
        ...this.#command,
        ...(under === undefined ? [] : ['-include-pch', under]),
        '-c',
        `${TEMPORARY}${path}.hh`,
        '-o',
        `${TEMPORARY}${path}.pch`,
      );
      const bytes = this.#run.temporary.read(`${path}.pch`);
      if (r.exit !== 0 || bytes === undefined) {
        failed.add(name);
        return undefined;
      }
      const hash = this.#store.put(bytes);
      this.#keep(name, { hash, bytes });
      this.#store.writeRecord(name, hash);
      this.#list([...this.#sets().filter((s) => s.headers.join() !== set.headers.join()), set].slice(-MAX_SETS));
      return set;
    } finally {
      this.#store.release(name);
    }
  }

  #list(sets: readonly HeaderSet[]): void {
    this.#store.writeRecord(this.#key, JSON.stringify(sets));
  }
}

const textOf = (set: HeaderSet): Uint8Array =>
  new TextEncoder().encode(set.headers.map((name) => `#include <${name}>\n`).join(''));
