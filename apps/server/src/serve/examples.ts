/** The examples folder: `<name>/example.json`, sources, input files. Read when asked for; it changes only with the installation. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { Type } from 'typebox';
import { FilePath, JobOptions, type ExampleView } from '@mayfly/wire';

const Described = Compile(
  Type.Object({
    title: Type.String(),
    description: Type.String(),
    size: Type.Integer({ minimum: 1 }),
    args: Type.Optional(Type.Array(Type.String())),
    files: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Object({ path: Type.String() })]))),
    entry: Type.Optional(Type.String()),
    sources: Type.Optional(Type.Array(Type.String())),
    options: Type.Optional(JobOptions),
  }),
);
const filePath = Compile(FilePath);
const SOURCE = /\.(ts|tsx|mts|js|mjs)$/;

export class Examples {
  readonly #root: string | undefined;
  #list: Promise<ExampleView[]> | undefined;

  constructor(root: string | undefined) {
    this.#root = root;
  }

  list(): Promise<ExampleView[]> {
    this.#list ??= this.#read();
    return this.#list;
  }

  /** Where an input file of an example lies. */
  async file(name: string, path: string): Promise<string | undefined> {
    const e = (await this.list()).find((x) => x.name === name);
    return e?.files.some((f) => f.path === path) && this.#root !== undefined ? join(this.#root, name, path) : undefined;
  }

  async #read(): Promise<ExampleView[]> {
    const root = this.#root;
    if (root === undefined) return [];
    const out: ExampleView[] = [];
    for (const d of (await readdir(root, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (!d.isDirectory()) continue;
      const dir = join(root, d.name);
      const text = await readFile(join(dir, 'example.json'), 'utf8').catch(() => undefined);
      if (text === undefined) continue;
      const e: unknown = JSON.parse(text);
      if (!Described.Check(e)) continue;
      const entry = e.entry ?? 'main.ts';
      const sources: Record<string, string> = {};
      const wanted = e.sources ?? (await readdir(dir)).filter((n) => SOURCE.test(n) && !/\.(test|check)\./.test(n) && !/^check\./.test(n));
      for (const s of new Set([entry, ...wanted])) if (filePath.Check(s)) sources[s] = await readFile(join(dir, s), 'utf8');
      const files: ExampleView['files'] = [];
      for (const f of e.files ?? []) {
        const path = typeof f === 'string' ? f : f.path;
        if (filePath.Check(path)) files.push({ path, bytes: (await stat(join(dir, path))).size });
      }
      out.push({ name: d.name, title: e.title, description: e.description, size: e.size, args: e.args ?? [], entry, sources, files, ...(e.options ? { options: e.options } : {}) });
    }
    return out;
  }
}
