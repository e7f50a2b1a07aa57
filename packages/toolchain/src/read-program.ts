/**
 * Reads a program from a folder of this machine, for the command line: the entry and what it imports, nothing else.
 * What the compiler would refuse is left for it to refuse with a place and a reason; this reader only never follows a
 * path out.
 */
import { lstat, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isFilePath, MayflyError } from '@mayfly/wire';
import { plainImports } from './plain-imports.ts';
import { isScript, resolveImport } from './resolve.ts';
import type { CompileRequest } from './compile-request.ts';

/** TypeScript is loaded for the first file that needs it, not with every server and command. */
const importsOf = async (path: string, text: string): Promise<string[]> =>
  plainImports(text) ?? (await import('./inspect.ts')).inspectFile(path, text).imports.map((i) => i.specifier);

/**
 * @param entryFile path of the program's main file
 * @param root folder that imports may not leave; default: the entry's own
 * @throws MayflyError NOT_FOUND (no such file), FORBIDDEN_IMPORT (a link, or a path out of the root), BAD_REQUEST (file
 * name)
 */
export async function readProgram(
  entryFile: string,
  root: string = dirname(resolve(entryFile)),
): Promise<CompileRequest> {
  const top = await realpath(root).catch(() => undefined);
  if (top === undefined) throw new MayflyError('NOT_FOUND', `No such folder: ${root}.`);
  const entry = relative(resolve(root), resolve(entryFile)).split(sep).join('/');
  if (!isFilePath(entry))
    throw new MayflyError(
      'BAD_REQUEST',
      `"${basename(entryFile)}" is not a valid file name: use letters, digits, and (after the first ` +
        'character) . _ @ + -',
    );
  const sources: Record<string, string> = {};
  const read = async (path: string): Promise<boolean> => {
    if (Object.hasOwn(sources, path)) return true;
    if (!isFilePath(path)) return false;
    const full = join(top, path);
    const info = await lstat(full).catch(() => undefined);
    if (info === undefined || (!info.isFile() && !info.isSymbolicLink())) return false;
    // A link of the last step or of any folder on the way.
    if (info.isSymbolicLink() || (await realpath(full)) !== full)
      throw new MayflyError(
        'FORBIDDEN_IMPORT',
        `"${path}" is a link (or lies behind one). A program consists of plain files of its own folder.`,
      );
    sources[path] = await readFile(full, 'utf8');
    return true;
  };
  if (!(await read(entry))) throw new MayflyError('NOT_FOUND', `No such file: ${entryFile}.`);
  const queue = [entry];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (!isScript(path)) continue;
    for (const specifier of await importsOf(path, sources[path]!)) {
      // The resolver asks for one candidate after the other; a disk answers later, so it is asked ahead.
      const candidates: string[] = [];
      resolveImport(specifier, path, (p) => (candidates.push(p), false));
      for (const candidate of candidates) {
        const known = Object.hasOwn(sources, candidate);
        if (!(await read(candidate))) continue;
        if (!known) queue.push(candidate);
        break;
      }
    }
  }
  return { entry, sources };
}
