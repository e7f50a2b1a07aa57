/** A job on its way: the submit form as plain data, and its way to a JobSubmission. Pure but for the blobs it names. */
import { accepts, DEFAULT_PROTOCOL } from '@mayfly/protocols/manifests';
import { moduleOffset } from '@mayfly/toolchain/launcher';
import type { ExampleView, FurtherPart, JobOptions, JobSubmission, ProgramSubmission } from '@mayfly/wire';
import { TEMPLATES } from './templates.ts';

export interface InputFile {
  path: string;
  bytes: number;
  /** Where the content is: here, or in an example of the server. */
  content: { kind: 'bytes'; data: Uint8Array } | { kind: 'example'; example: string; path: string };
}

/** A program that is no text: a module of WebAssembly, or an archive with a manifest. */
export interface Packed {
  language: 'wasm' | 'archive';
  path: string;
  data: Uint8Array;
}

export interface Draft {
  name: string;
  /** What it is for, for volunteers to read. */
  about: string;
  entry: string;
  sources: { path: string; text: string }[];
  /** In place of sources. */
  packed?: Packed | undefined;
  /** Compiler options for C and C++, as typed. */
  flags: string;
  /** Files that are compiled, where not all with a suffix of C or C++ are. */
  units?: string[] | undefined;
  size: number;
  /** As typed, split like a shell does. */
  args: string;
  /** More programs of the same job, as they were submitted: the form sends them unchanged. */
  further?: FurtherPart[] | undefined;
  files: InputFile[];
  stdin: string;
  /** Lines of NAME=value, as typed. */
  env: string;
  /** Code of a room; '' for none. */
  room: string;
  /** With clusters: the room of each, where they are not all in `room`. */
  rooms?: string[] | undefined;
  /** URL that hears of the end; '' for none. */
  notify: string;
  options: JobOptions;
}

/** Characters that volunteers get to read, as the server takes them. */
export const MOST_ABOUT = 200;

export const emptyDraft = (): Draft => ({
  name: '',
  about: '',
  entry: TEMPLATES[0].path,
  sources: [{ path: TEMPLATES[0].path, text: TEMPLATES[0].text }],
  flags: '',
  size: 4,
  args: '',
  files: [],
  stdin: '',
  env: '',
  room: '',
  notify: '',
  options: {},
});

export const draftOfExample = (e: ExampleView): Draft => ({
  name: e.name,
  about: e.description.slice(0, MOST_ABOUT),
  entry: e.entry,
  sources: Object.entries(e.sources).map(([path, text]) => ({ path, text })),
  flags: formatArgs(e.flags),
  size: e.size,
  args: formatArgs(e.args),
  files: e.files.map((f) => ({
    path: f.path,
    bytes: f.bytes,
    content: { kind: 'example', example: e.name, path: f.path },
  })),
  stdin: '',
  ...optionsOf(e.options),
  room: '',
  notify: '',
});

export const draftOfSubmission = (s: JobSubmission): Draft => ({
  name: s.name ?? '',
  about: s.about ?? '',
  ...programOf(s.program),
  size: s.size,
  args: formatArgs(s.args ?? []),
  ...(s.further ? { further: s.further } : {}),
  files: Object.entries(s.files ?? {}).map(([path, base64]) => {
    const data = fromBase64(base64);
    return { path, bytes: data.length, content: { kind: 'bytes', data } };
  }),
  stdin: s.stdin ? new TextDecoder().decode(fromBase64(s.stdin)) : '',
  ...optionsOf(s.options),
  room: s.room ?? '',
  ...(s.rooms ? { rooms: s.rooms.map((code) => code ?? '') } : {}),
  notify: s.notify ?? '',
});

/** The environment is typed as lines; the other options as they are. */
function optionsOf(o: JobOptions | undefined): Pick<Draft, 'env' | 'options'> {
  const { env, ...options } = o ?? {};
  return {
    env: Object.entries(env ?? {})
      .map(([k, v]) => `${k}=${v}\n`)
      .join(''),
    options,
  };
}

/** NAME=value by line; undefined: a line is neither that nor empty. */
export function parseEnv(text: string): Record<string, string> | undefined {
  const out: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const m = /^\s*([A-Za-z_][A-Za-z0-9_]{0,63})=(.{0,4096})$/.exec(line);
    if (!m) return undefined;
    out[m[1]!] = m[2]!;
  }
  return out;
}

function programOf(p: ProgramSubmission): Pick<Draft, 'entry' | 'sources' | 'packed' | 'flags' | 'units'> {
  if (p.language === 'wasm')
    return {
      entry: p.entry ?? 'a.out',
      sources: [],
      flags: '',
      packed: { language: 'wasm', path: p.entry ?? 'a.out', data: fromBase64(p.module) },
    };
  if (p.language === 'archive')
    return {
      entry: p.entry ?? 'program',
      sources: [],
      flags: '',
      packed: { language: 'archive', path: p.entry ?? 'program', data: fromBase64(p.archive) },
    };
  const sources = Object.entries(p.sources).map(([path, text]) => ({ path, text }));
  if (p.language === 'typescript') return { entry: p.entry, sources, flags: '' };
  return {
    entry: p.entry ?? sources.find((s) => isUnit(s.path))?.path ?? '',
    sources,
    flags: formatArgs(p.flags ?? []),
    units: p.units,
  };
}

/** Ranks of all its programs. */
export const ranksOf = (d: Pick<Draft, 'size' | 'further'>): number =>
  (d.further ?? []).reduce((n, f) => n + f.size, d.size);

/** A file of C or C++ that is compiled for itself. */
export const isUnit = (path: string): boolean => /\.(c|cc|cpp|cxx|C|c\+\+)$/.test(path);

/** The language of a program is that of its files: C or C++ as soon as there is one to compile. */
export function languageOf(d: Pick<Draft, 'sources' | 'packed'>): ProgramSubmission['language'] {
  if (d.packed) return d.packed.language;
  const units = d.sources.filter((s) => isUnit(s.path));
  return units.length === 0 ? 'typescript' : units.every((s) => s.path.endsWith('.c')) ? 'c' : 'c++';
}

/** What a file is by its first bytes: a module, an archive, or text. */
export function packedKind(data: Uint8Array): Packed['language'] | undefined {
  const begins = (...bytes: number[]): boolean => bytes.every((b, i) => data[i] === b);
  if (moduleOffset(data) !== undefined) return 'wasm';
  const ustar = [0x75, 0x73, 0x74, 0x61, 0x72].every((b, i) => data[257 + i] === b);
  return begins(0x50, 0x4b) || begins(0x1f, 0x8b) || ustar ? 'archive' : undefined;
}

/** The rule of FilePath in packages/wire/src/job.ts, said in words by `pathProblem`. */
const PATH = /^(?!.*(?:^|\/)\.)[A-Za-z0-9_][A-Za-z0-9_.@+-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.@+-]*)*$/;

export function pathProblem(path: string): string | undefined {
  if (path === '') return 'A file needs a name.';
  if (path.length > 200) return `The name ${path.slice(0, 30)}… is longer than 200 characters.`;
  return PATH.test(path) ? undefined : `“${path}”: letters, digits and _ . @ + - only, no hidden files, no “..”.`;
}

/** A path that passes, from a file's own name: other characters become '_'. */
export function safePath(name: string): string {
  const clean = name
    .split(/[\\/]+/)
    .map((part) => part.replace(/[^A-Za-z0-9_.@+-]/g, '_').replace(/^[^A-Za-z0-9_]+/, ''))
    .filter((part) => part !== '')
    .join('/');
  return (clean || 'file').slice(-200).replace(/^[^A-Za-z0-9_]+/, '');
}

/** About how much is sent for it: bytes go as base64. */
const sentBytes = (d: Draft): number =>
  [...d.sources, { text: d.stdin }].reduce((n, s) => n + s.text.length, 0) +
  (4 / 3) * d.files.reduce((n, f) => n + f.bytes, d.packed?.data.length ?? 0);
const MEGA = 1_000_000;

/** What must be put right before this draft can be sent, by field. `most`: bytes that the server takes. */
export function problems(
  d: Draft,
  most = Infinity,
): { field: 'sources' | 'entry' | 'size' | 'files' | 'args' | 'flags' | 'env'; text: string }[] {
  const found: ReturnType<typeof problems> = [];
  if (d.sources.length === 0 && !d.packed) found.push({ field: 'sources', text: 'Add a source file.' });
  for (const s of d.sources) {
    const p = pathProblem(s.path);
    if (p) found.push({ field: 'sources', text: p });
  }
  if (d.sources.length > 0 && !d.sources.some((s) => s.path === d.entry))
    found.push({ field: 'entry', text: 'Choose the file to start with.' });
  const names = [...d.sources, ...d.files].map((f) => f.path);
  const twice = names.find((n, i) => names.indexOf(n) !== i);
  if (twice) found.push({ field: 'files', text: `Two files are called “${twice}”.` });
  for (const f of d.files) {
    const p = pathProblem(f.path);
    if (p) found.push({ field: 'files', text: p });
  }
  if (sentBytes(d) > most)
    found.push({
      field: 'files',
      text:
        `The submission has ${Math.ceil(sentBytes(d) / MEGA)} MB; the server accepts ` +
        `${Math.floor(most / MEGA)} MB.`,
    });
  if (!Number.isInteger(d.size) || d.size < 1 || d.size > 1024)
    found.push({ field: 'size', text: 'Choose 1 to 1024 ranks.' });
  else if (ranksOf(d) > 1024)
    found.push({ field: 'size', text: `The programs have ${ranksOf(d)} ranks together; a job has at most 1024.` });
  if (splitArgs(d.flags) === undefined) found.push({ field: 'flags', text: 'Unclosed quotation mark.' });
  if (parseEnv(d.env) === undefined) found.push({ field: 'env', text: 'Environment: write one NAME=value per line.' });
  if (splitArgs(d.args) === undefined) found.push({ field: 'args', text: 'Unclosed quotation mark.' });
  return found;
}

/** By cluster: its ranks and its room. Undefined: all ranks are in one room. */
export function clusterPlaces(
  d: Pick<Draft, 'room' | 'rooms' | 'options' | 'size' | 'further'>,
): { room: string; ranks: number }[] | undefined {
  const { protocol = DEFAULT_PROTOCOL, clusters } = d.options;
  if (!accepts(protocol, 'clusters') || clusters === undefined || !d.rooms) return undefined;
  const size = ranksOf(d);
  const counts =
    typeof clusters === 'number'
      ? Array.from(
          { length: clusters },
          (_, c) => Math.ceil(((c + 1) * size) / clusters) - Math.ceil((c * size) / clusters),
        )
      : clusters.map((ranks) => ranks.length);
  return counts.map((ranks, c) => ({ room: d.rooms?.[c] ?? d.room, ranks }));
}

function whereOf(d: Draft): Pick<JobSubmission, 'room' | 'rooms'> {
  const places = clusterPlaces(d);
  if (places) return { rooms: places.map((p) => p.room || null) };
  return d.room ? { room: d.room } : {};
}

/** The submission; `load` fetches the content of files that are still elsewhere. */
export async function toSubmission(
  d: Draft,
  load: (f: { example: string; path: string }) => Promise<Uint8Array>,
): Promise<JobSubmission> {
  const files = await Promise.all(
    d.files.map(
      async (f) => [f.path, toBase64(f.content.kind === 'bytes' ? f.content.data : await load(f.content))] as const,
    ),
  );
  const args = splitArgs(d.args) ?? [];
  const env = parseEnv(d.env) ?? {};
  const options = Object.fromEntries(
    Object.entries({ ...d.options, ...(Object.keys(env).length ? { env } : {}) }).filter(([, v]) => v !== undefined),
  ) as JobOptions;
  return {
    ...(d.name.trim() ? { name: d.name.trim().slice(0, 80) } : {}),
    ...(d.about.trim() ? { about: d.about.trim().slice(0, MOST_ABOUT) } : {}),
    program: toProgram(d),
    size: d.size,
    ...(args.length ? { args } : {}),
    ...(d.further?.length ? { further: d.further } : {}),
    ...(files.length ? { files: Object.fromEntries(files) } : {}),
    ...(d.stdin ? { stdin: toBase64(new TextEncoder().encode(d.stdin)) } : {}),
    ...whereOf(d),
    ...(d.notify.trim() ? { notify: d.notify.trim() } : {}),
    ...(Object.keys(options).length ? { options } : {}),
  };
}

function toProgram(d: Draft): ProgramSubmission {
  if (d.packed?.language === 'wasm') return { language: 'wasm', module: toBase64(d.packed.data), entry: d.packed.path };
  if (d.packed) return { language: 'archive', archive: toBase64(d.packed.data) };
  const sources = Object.fromEntries(d.sources.map((s) => [s.path, s.text]));
  const language = languageOf(d);
  if (language !== 'c' && language !== 'c++') return { language: 'typescript', entry: d.entry, sources };
  const flags = splitArgs(d.flags) ?? [];
  const units = d.units?.filter((u) => u in sources);
  return {
    language,
    sources,
    ...(isUnit(d.entry) ? { entry: d.entry } : {}),
    ...(units?.length ? { units } : {}),
    ...(flags.length ? { flags } : {}),
  };
}

/**
 * Splits as a shell does: blanks part, '…' is literal, "…" knows \" and \\, a backslash takes the next character.
 * undefined: open quote.
 */
export function splitArgs(line: string): string[] | undefined {
  const out: string[] = [];
  let word: string | undefined;
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (/\s/.test(c)) {
      if (word !== undefined) out.push(word);
      word = undefined;
    } else if (c === "'") {
      const end = line.indexOf("'", i + 1);
      if (end < 0) return undefined;
      word = (word ?? '') + line.slice(i + 1, end);
      i = end;
    } else if (c === '"') {
      word ??= '';
      for (i++; line[i] !== '"'; i++) {
        if (i >= line.length) return undefined;
        if (line[i] === '\\' && (line[i + 1] === '"' || line[i + 1] === '\\')) i++;
        word += line[i];
      }
    } else if (c === '\\' && i + 1 < line.length) {
      word = (word ?? '') + line[++i];
    } else {
      word = (word ?? '') + c;
    }
  }
  if (word !== undefined) out.push(word);
  return out;
}

/** The inverse of `splitArgs`. */
export const formatArgs = (args: readonly string[]): string =>
  args.map((a) => (/^[A-Za-z0-9_./:=,@%+-]+$/.test(a) ? a : `'${a.replaceAll("'", `'\\''`)}'`)).join(' ');

export function toBase64(data: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < data.length; i += 0x8000) binary += String.fromCharCode(...data.subarray(i, i + 0x8000));
  return btoa(binary);
}

export const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
