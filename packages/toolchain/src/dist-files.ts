/**
 * Where the built files of this package lie (build.mjs): compile-server.mjs, types/, template/. Beside this module when
 * it runs from source; beside or in `toolchain/` beside the bundle of an app that carries them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MayflyError } from '@mayfly/wire';

const CANDIDATES = [
  './compile-server.mjs',
  './toolchain/compile-server.mjs',
  '../toolchain/compile-server.mjs',
  '../dist/compile-server.mjs',
  '../../../packages/toolchain/dist/compile-server.mjs',
];

/** @throws MayflyError INTERNAL when the package has not been built */
export function compileServerPath(): string {
  for (const candidate of CANDIDATES) {
    const path = fileURLToPath(new URL(candidate, import.meta.url));
    if (existsSync(path)) return path;
  }
  throw new MayflyError('INTERNAL', 'The compile process is not built: run `npm run build -w @mayfly/toolchain`.');
}

const distFile = (...path: string[]): string => join(dirname(compileServerPath()), ...path);

/** The declarations of the module 'mayfly' and of a program's globals, for editors. */
export function declarations(): { readonly mayfly: string; readonly globals: string } {
  return {
    mayfly: readFileSync(distFile('types/mayfly.d.ts'), 'utf8'),
    globals: readFileSync(distFile('types/globals.d.ts'), 'utf8'),
  };
}

/** A project to start from, by path: main.ts, tsconfig.json, and the declarations. */
export function templateFiles(): Record<string, string> {
  const folder = distFile('template');
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
}
