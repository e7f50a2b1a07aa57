/**
 * C and C++ examples, compiled once by the drivers of the built command line, and kept by what they were made of: a
 * campaign submits the same program dozens of times, and a later campaign again.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Program, Sources } from '../client.ts';
import { CLI, ROOT } from '../server.ts';

const CACHE = join(ROOT, 'node_modules/.cache/mayfly/modules');

/** The module of an example and further sources. */
export async function moduleOf(
  name: string,
  program: Sources['program'],
  more: Readonly<Record<string, string>>,
): Promise<Program['program']> {
  if (program.language === 'typescript') throw new Error(`${name} is not a C or C++ program`);
  const sources = { ...program.sources, ...more };
  const flags = program.flags ?? [];
  const hash = createHash('sha256')
    .update(await toolchain())
    .update(JSON.stringify([program.language, flags, Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1))]))
    .digest('hex');
  const kept = join(CACHE, `${name}-${hash.slice(0, 16)}.wasm`);
  let module = await readFile(kept).catch(() => undefined);
  if (module === undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'mayfly-campaign-'));
    try {
      for (const [path, text] of Object.entries(sources)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      const units = Object.keys(sources).filter((p) => /\.(c|cc|cpp)$/.test(p));
      await promisify(execFile)(
        process.execPath,
        [CLI, program.language === 'c' ? 'mpicc' : 'mpicxx', ...flags, '-I.', ...units, '-o', 'a.out'],
        { cwd: folder, maxBuffer: 1 << 24 },
      );
      module = await readFile(join(folder, 'a.out'));
      await mkdir(CACHE, { recursive: true });
      // Whole or not at all.
      await writeFile(`${kept}.${process.pid}`, module);
      await rename(`${kept}.${process.pid}`, kept);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return { language: 'wasm', module: module.toString('base64'), entry: `${name}.wasm` };
}

/** Another build of the toolchain may make another module: its code, and the headers and sources that it adds. */
async function toolchain(): Promise<Buffer> {
  const folder = join(dirname(CLI), 'toolchain');
  const hash = createHash('sha256').update(await readFile(join(folder, 'compile-server.mjs')));
  for (const entry of (await readdir(join(folder, 'c'), { recursive: true, withFileTypes: true }))
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name))
    .sort())
    hash.update(await readFile(entry));
  return hash.digest();
}
