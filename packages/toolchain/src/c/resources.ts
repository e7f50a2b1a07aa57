/**
 * The files of ours that clang sees besides the sysroot: mpi.h, the headers and sources of the compatibility layer
 * (../../compat). From the source tree, or from `c/` beside the built bundle (build.mjs puts them there).
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MayflyError } from '@mayfly/wire';
import { MemoryFiles } from './files.ts';
import { isMpiName } from './imports.ts';

/** Where they appear among the files of a tool. */
export const RESOURCES = '/.mayfly/own';

const CANDIDATES = [
  { include: '../../../libmpi/include/', compat: '../../compat/', objects: '../../dist/c/objects/' },
  ...['./c/', './toolchain/c/', '../toolchain/c/', '../dist/c/'].map((c) => ({
    include: `${c}include/`,
    compat: `${c}compat/`,
    objects: `${c}objects/`,
  })),
].map(({ include, compat, objects }) => {
  const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  return { include: at(include), compat: at(compat), objects: at(objects) };
});

let found:
  | {
      readonly files: MemoryFiles;
      readonly mpiNames: readonly string[];
      readonly includePath: string;
      /** The folder of the compiled compatibility layer (driver/compat.ts). */
      readonly objects: string;
    }
  | undefined;

/** @throws MayflyError INTERNAL when the package has not been built */
export function resources(): NonNullable<typeof found> {
  if (found !== undefined) return found;
  const folder = CANDIDATES.find((c) => existsSync(join(c.compat, 'unwind.c')));
  if (folder === undefined)
    throw new MayflyError(
      'INTERNAL',
      'The files of the C toolchain are not built: run `npm run build -w @mayfly/toolchain`.',
    );
  const files = new MemoryFiles();
  const add = (from: string, to: string): void => {
    for (const name of readdirSync(from).sort())
      if (statSync(join(from, name)).isDirectory()) add(join(from, name), `${to}/${name}`);
      else files.write(`${to}/${name}`, new Uint8Array(readFileSync(join(from, name))));
  };
  add(folder.compat, '/compat');
  add(folder.include, '/include');
  const header = readFileSync(join(folder.include, 'mpi.h'), 'utf8');
  const mpiNames = [
    ...new Set(
      [...header.matchAll(/\b(P?MPIX?_[A-Z]\w*)\s*\(/g)].flatMap((m) => [
        m[1]!,
        m[1]!.startsWith('P') ? m[1]! : `P${m[1]!}`,
      ]),
    ),
  ]
    .filter(isMpiName)
    .sort();
  found = { files, mpiNames, includePath: folder.include, objects: folder.objects };
  return found;
}
