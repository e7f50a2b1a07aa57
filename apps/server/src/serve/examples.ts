/**
 * The examples folder: `<name>/example.json`, sources, input files. Read when asked for; it changes only with the
 * installation. A program of C or C++ names all its sources and headers, relative to its folder; they may lie in a
 * neighbour (`../nas-common/nas.h`). In the submission they keep their places to each other, so that relative includes
 * mean the same.
 */
import { createReadStream } from 'node:fs';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { Readable } from 'node:stream';
import { Compile } from 'typebox/compile';
import { Type, type Static } from 'typebox';
import { FilePath, JobOptions, type ExampleEntry, type ExampleView } from '@mayfly/wire';

const Description = Type.Object({
  title: Type.String(),
  description: Type.String(),
  size: Type.Integer({ minimum: 1 }),
  args: Type.Optional(Type.Array(Type.String())),
  files: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Object({ path: Type.String() })]))),
  language: Type.Optional(Type.Union([Type.Literal('typescript'), Type.Literal('c'), Type.Literal('c++')])),
  /** C, C++: options of the compiler. */
  flags: Type.Optional(Type.Array(Type.String())),
  entry: Type.Optional(Type.String()),
  sources: Type.Optional(Type.Array(Type.String())),
  options: Type.Optional(JobOptions),
  /** Those with a place stand before the others, by it: what has something to look at comes first. */
  place: Type.Optional(Type.Integer({ minimum: 1 })),
});
const Described = Compile(Description);
const filePath = Compile(FilePath);
const SOURCE = /\.(ts|tsx|mts|js|mjs)$/;
const NATIVE = /\.(c|cc|cpp|cxx|C|c\+\+)$/;

export class Examples {
  readonly #root: string | undefined;
  #all: Promise<ExampleView[]> | undefined;
  /** Where input files lie, by `<example>/<path>`. */
  readonly #places = new Map<string, string>();

  constructor(root: string | undefined) {
    this.#root = root;
  }

  /** What the form shows before one is chosen. */
  async list(): Promise<ExampleEntry[]> {
    const all = await this.#views();
    return all.map(({ name, title, description, size, language }) => ({ name, title, description, size, language }));
  }

  /** undefined: there is none of that name */
  async view(name: string): Promise<ExampleView | undefined> {
    return (await this.#views()).find((e) => e.name === name);
  }

  /** An input file of an example; undefined: there is none of that name. */
  async file(name: string, path: string): Promise<Readable | undefined> {
    const e = await this.view(name);
    if (this.#root === undefined || !e?.files.some((f) => f.path === path)) return undefined;
    const at = this.#places.get(`${name}/${path}`);
    return at === undefined ? undefined : createReadStream(at);
  }

  #views(): Promise<ExampleView[]> {
    this.#all ??= this.#read();
    return this.#all;
  }

  async #read(): Promise<ExampleView[]> {
    const root = this.#root;
    if (root === undefined) return [];
    const out: { place: number; view: ExampleView }[] = [];
    for (const d of (await readdir(root, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (!d.isDirectory()) continue;
      const dir = join(root, d.name);
      const text = await readFile(join(dir, 'example.json'), 'utf8').catch(() => undefined);
      if (text === undefined) continue;
      const e: unknown = JSON.parse(text);
      if (!Described.Check(e)) continue;
      const language = e.language ?? 'typescript';
      const { entry, sources } = language === 'typescript' ? await scriptOf(dir, e) : await nativeOf(root, d.name, e);
      const files: ExampleView['files'] = [];
      for (const f of e.files ?? []) {
        const from = typeof f === 'string' ? f : f.path;
        if (inside(d.name, from) === undefined) continue;
        const path = nameOf(from);
        if (!filePath.Check(path)) continue;
        files.push({ path, bytes: (await stat(join(dir, from))).size });
        this.#places.set(`${d.name}/${path}`, join(dir, from));
      }
      const view = {
        name: d.name,
        title: e.title,
        description: e.description,
        size: e.size,
        args: e.args ?? [],
        language,
        flags: e.flags ?? [],
        entry,
        sources,
        files,
        ...(e.options ? { options: e.options } : {}),
      };
      out.push({ place: e.place ?? Infinity, view });
    }
    // Stable: by name where the place is the same.
    return out.sort((a, b) => (a.place === b.place ? 0 : a.place - b.place)).map((e) => e.view);
  }
}

type Description = Static<typeof Description>;

/** The path in the examples folder, undefined when it leads out of it. */
function inside(name: string, path: string): string | undefined {
  const at = posix.join(name, path);
  return at.startsWith('../') || posix.isAbsolute(path) ? undefined : at;
}

/** As the program opens it: a neighbour's file by its last name. */
const nameOf = (path: string): string => (path.startsWith('../') ? posix.basename(path) : path);

async function scriptOf(dir: string, e: Description): Promise<{ entry: string; sources: Record<string, string> }> {
  const entry = e.entry ?? 'main.ts';
  const sources: Record<string, string> = {};
  const wanted =
    e.sources ??
    (await readdir(dir)).filter((n) => SOURCE.test(n) && !/\.(test|check)\./.test(n) && !/^check\./.test(n));
  for (const s of new Set([entry, ...wanted])) if (filePath.Check(s)) sources[s] = await readFile(join(dir, s), 'utf8');
  return { entry, sources };
}

async function nativeOf(
  root: string,
  name: string,
  e: Description,
): Promise<{ entry: string; sources: Record<string, string> }> {
  const places = (e.sources ?? []).flatMap((s) => inside(name, s) ?? []);
  // Without neighbours the paths are those of its own folder.
  const top = places.every((p) => p.startsWith(`${name}/`)) ? `${name}/` : '';
  const sources: Record<string, string> = {};
  for (const p of places) if (filePath.Check(p)) sources[p.slice(top.length)] = await readFile(join(root, p), 'utf8');
  const entry =
    e.entry === undefined
      ? Object.keys(sources).find((p) => NATIVE.test(p))
      : posix.join(name, e.entry).slice(top.length);
  return { entry: entry ?? 'a.out', sources };
}
