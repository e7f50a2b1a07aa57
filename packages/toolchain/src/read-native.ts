/**
 * Reads a program of C or C++ from this machine, for the command line: the named files and the headers that they
 * include by `"…"`, nothing else. What cannot be found is left for clang to miss, at its place.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isFilePath, MayflyError } from '@mayfly/wire';

export interface NativeProgram {
  /** Text by path, relative to the deepest folder that holds all files. */
  readonly sources: Record<string, string>;
  /** The files that were named, by their paths in `sources`. */
  readonly units: string[];
  /** The flags, with folders of headers relative to the same folder. */
  readonly flags: string[];
  readonly root: string;
}

const MAX_FILES = 2000;
const MAX_HEADER_BYTES = 8 << 20;

/** @throws MayflyError NOT_FOUND, BAD_REQUEST (a file name that a submission cannot have) */
export function readNative(files: readonly string[], flags: readonly string[]): NativeProgram {
  const folders = includeFolders(flags);
  const texts = new Map<string, string>();
  const units = files.map((f) => resolve(f));
  for (const unit of units)
    if (!add(texts, unit)) throw new MayflyError('NOT_FOUND', `No such file: ${relative('.', unit)}.`);
  const queue = [...units];
  for (let at = queue.shift(); at !== undefined; at = queue.shift())
    for (const [, name] of texts.get(at)!.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/gm))
      for (const folder of [dirname(at), ...folders.map((f) => f.path)]) {
        const header = resolve(folder, name!);
        if (texts.has(header)) break;
        if (texts.size < MAX_FILES && add(texts, header)) {
          queue.push(header);
          break;
        }
      }
  const root = commonFolder([...texts.keys()]);
  const inProgram = (path: string): string => relative(root, path).split(sep).join('/');
  const sources: Record<string, string> = {};
  for (const [path, text] of texts) {
    const name = inProgram(path);
    if (!isFilePath(name))
      throw new MayflyError(
        'BAD_REQUEST',
        `"${name}" is not a valid file name: use letters, digits, and (after the first character) . _ @ + -`,
      );
    sources[name] = text;
  }
  const moved = [...flags];
  for (const f of folders) {
    const inside = inProgram(f.path) || '.';
    moved[f.at] = inside.startsWith('..') || resolve(inside) === inside ? '' : f.glued ? `-I${inside}` : inside;
    if (moved[f.at] === '' && !f.glued) moved[f.at - 1] = '';
  }
  return { sources, units: units.map(inProgram), flags: moved.filter((f) => f !== ''), root };
}

function add(texts: Map<string, string>, path: string): boolean {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info?.isFile() || info.size > MAX_HEADER_BYTES) return false;
  const bytes = readFileSync(path);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    text = bytes.toString('latin1');
  }
  texts.set(path, text);
  return true;
}

function includeFolders(flags: readonly string[]): { path: string; at: number; glued: boolean }[] {
  const out: { path: string; at: number; glued: boolean }[] = [];
  flags.forEach((flag, i) => {
    if (flag === '-I' && flags[i + 1] !== undefined)
      out.push({ path: resolve(flags[i + 1]!), at: i + 1, glued: false });
    else if (flag.startsWith('-I') && flag.length > 2) out.push({ path: resolve(flag.slice(2)), at: i, glued: true });
  });
  return out;
}

function commonFolder(paths: readonly string[]): string {
  let common = dirname(paths[0]!);
  for (const path of paths) while (relative(common, path).startsWith('..')) common = join(common, '..');
  return common;
}
