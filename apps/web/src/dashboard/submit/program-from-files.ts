/**
 * What was dropped on the form or chosen from the disk, as a program: loose sources, a module, an archive, a folder. An
 * archive and a folder become sources that can be edited. What cannot be a program is refused in words, before anything
 * is sent; the server checks all of it again.
 */
import { moduleOf } from '@mayfly/toolchain/launcher';
import type { PlainProgram } from '@mayfly/toolchain/packed';
import { formatArgs, isUnit, packedKind, safePath, type Draft } from '../draft.ts';

export interface Given {
  path: string;
  data: Uint8Array;
}
type Part = Pick<Draft, 'entry' | 'sources' | 'packed' | 'flags' | 'units'>;
export interface Taken {
  change: Partial<Draft> & Part;
  /** The file to show. */
  show: string;
  /** What was done, in words; '' where it can be seen. */
  note: string;
}

/** As the wire has it for one source. */
const MOST_CHARACTERS = 4_000_000;
const MANIFEST = 'mayfly.json';
const SCRIPT = /\.(tsx?|mts|jsx?|mjs|json|txt)$/;

/** @throws Error in words for the one who dropped it */
export async function take(draft: Draft, given: readonly Given[], keep: boolean): Promise<Taken> {
  const whole = given.find((g) => packedKind(g.data) !== undefined);
  if (whole && given.length > 1)
    throw new Error(
      `${whole.path} is ${packedKind(whole.data) === 'wasm' ? 'a module, which' : 'an archive, which'} is a ` +
        'whole program: submit it alone.',
    );
  if (whole && packedKind(whole.data) === 'wasm')
    return {
      change: {
        packed: { language: 'wasm', path: safePath(whole.path), data: moduleOf(whole.data) },
        sources: [],
        entry: safePath(whole.path),
        flags: '',
        units: undefined,
      },
      show: '',
      note: '',
    };
  if (whole) {
    const { unpack } = await import('@mayfly/toolchain/packed');
    return takeFolder(await unpack(whole.data), whole.path);
  }
  if (given.some((g) => g.path === MANIFEST)) return takeFolder(new Map(given.map((g) => [g.path, g.data])), MANIFEST);
  return takeLoose(draft, given, keep);
}

/** Files of an archive or a folder: as its manifest says; where there is none, all of its sources. */
export async function takeFolder(files: ReadonlyMap<string, Uint8Array>, name: string): Promise<Taken> {
  const { programOfFiles } = await import('@mayfly/toolchain/packed');
  const manifest = [...files.keys()].some((p) => p === MANIFEST || /^[^/]+\/mayfly\.json$/.test(p));
  const part = manifest ? partOf(programOfFiles(files)) : await guess(files, name);
  const left = files.size - part.sources.length - (manifest ? 1 : 0) - (part.packed ? 1 : 0);
  const what = `${
    part.packed
      ? ''
      : `${part.sources.length === 1 ? '1 source' : `${part.sources.length} sources`} of ` +
        `${name}${manifest ? `, as its ${MANIFEST} says` : `, which has no ${MANIFEST}: ${part.units ? 'each file of C or C++ is compiled, in the order of their names' : `it starts with ${part.entry}`}`}.`
  }`;
  const others =
    left > 0
      ? ` ${left === 1 ? '1 other file was' : `${left} other files were`} left out; add files that the program ` +
        'reads as input files.'
      : '';
  return { change: part, show: part.entry, note: `${what}${others}`.trim() };
}

function partOf(p: PlainProgram): Part {
  if (p.language === 'wasm')
    return {
      packed: { language: 'wasm', path: safePath(p.entry), data: p.module },
      sources: [],
      entry: safePath(p.entry),
      flags: '',
      units: undefined,
    };
  const sources = Object.entries(p.sources).map(([path, text]) => ({ path, text }));
  if (p.language === 'typescript') return { sources, entry: p.entry, flags: '', packed: undefined, units: undefined };
  const units = p.units ?? sources.map((s) => s.path).filter(isUnit);
  if (units.length === 0)
    throw new Error(
      `${MANIFEST} says ${p.language === 'c' ? 'C' : 'C++'}, but there are no files of that language to compile.`,
    );
  return {
    sources,
    entry: p.entry !== undefined && isUnit(p.entry) ? p.entry : units[0]!,
    flags: formatArgs(p.flags ?? []),
    units: p.units,
    packed: undefined,
  };
}

async function guess(files: ReadonlyMap<string, Uint8Array>, name: string): Promise<Part> {
  const { isNativeSource } = await import('@mayfly/toolchain/packed');
  const paths = [...files.keys()];
  // All in one folder, as archives of projects are: that folder is the program's.
  const top = /^[^/]+\//.exec(paths[0] ?? '')?.[0] ?? '';
  const cut = paths.every((p) => p.startsWith(top)) ? top.length : 0;
  const native = paths.some((p) => isUnit(p));
  const sources = paths
    .filter((p) => (native ? isNativeSource(p) : SCRIPT.test(p)))
    .sort()
    .map((p) => ({ path: safePath(p.slice(cut)), text: textOf(p, files.get(p)!) }));
  const units = sources.map((s) => s.path).filter(isUnit);
  const entry = startOf(sources);
  if (entry === undefined || (!native && !/\.(tsx?|mts|jsx?|mjs)$/.test(entry)))
    throw new Error(`${name} contains no TypeScript, C or C++ sources.`);
  return { sources, entry, flags: '', units: native ? units : undefined, packed: undefined };
}

const startOf = (sources: readonly { path: string }[]): string | undefined =>
  (
    sources.find((s) => /(^|\/)main\.(ts|c|cc|cpp|cxx)$/.test(s.path)) ??
    sources.find((s) => isUnit(s.path)) ??
    sources.find((s) => /\.(tsx?|mts|jsx?|mjs)$/.test(s.path)) ??
    sources[0]
  )?.path;

/** Beside what is there (`keep`), or in its place. */
function takeLoose(draft: Draft, given: readonly Given[], keep: boolean): Taken {
  const read = given.map((g) => ({ path: safePath(g.path), text: textOf(g.path, g.data) }));
  const names = new Set(read.map((r) => r.path));
  const sources = [...(keep ? draft.sources.filter((s) => !names.has(s.path)) : []), ...read];
  const entry = sources.some((s) => s.path === draft.entry) ? draft.entry : startOf(sources)!;
  return {
    change: { sources, entry, flags: draft.flags, packed: undefined, units: undefined },
    show: read[0]!.path,
    note: '',
  };
}

function textOf(path: string, data: Uint8Array): string {
  if (data[0] === 0x7f && data[1] === 0x45 && data[2] === 0x4c && data[3] === 0x46)
    throw new Error(
      `${path} is a native executable. Build it with mayfly mpicc to get a module that runs in browsers, or ` +
        'submit its sources.',
    );
  if (data.includes(0))
    throw new Error(
      `${path} is not a text file, a module (.wasm) or an archive (.zip, .tar, .tar.gz). Add files that the ` +
        'program reads as input files.',
    );
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch {
    text = new TextDecoder('latin1').decode(data); // names of authors in comments of old sources
  }
  if (text.length > MOST_CHARACTERS)
    throw new Error(`${path} has ${text.length} characters; the limit for a source file is ${MOST_CHARACTERS}.`);
  return text;
}

/** A draft whose program is still packed, as that of a copied job, with its sources where they can be had. */
export async function opened(draft: Draft): Promise<Draft> {
  if (draft.packed?.language !== 'archive') return draft;
  try {
    const { unpack } = await import('@mayfly/toolchain/packed');
    return { ...draft, ...(await takeFolder(await unpack(draft.packed.data), draft.packed.path)).change };
  } catch {
    return draft; // the server took it once: it is sent again as it is
  }
}
