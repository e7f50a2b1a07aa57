/**
 * The compile process, `compile-server <its folder>`: serves one request at a time over its IPC channel, from a warm TypeScript, a warm esbuild and a warm clang. Its parent
 * (compiler.ts) limits its memory and time, and kills it when it is over; it holds no state that matters.
 */
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';
import { compile } from './compile.ts';
import { TypeChecker } from './type-check.ts';
import type { FromCompileServer, ToCompileServer } from './compile-protocol.ts';

const here = dirname(fileURLToPath(import.meta.url));
const libDir = dirname(createRequire(import.meta.url).resolve('typescript'));
const workingDir = process.argv[2]!;
process.on('exit', () => rmSync(workingDir, { recursive: true, force: true }));
// The parent is gone: so are we (and esbuild, whose input closes).
process.on('disconnect', () => process.exit(0));

const checker = new TypeChecker(
  { mayfly: readFileSync(join(here, 'types/mayfly.d.ts'), 'utf8'), globals: readFileSync(join(here, 'types/globals.d.ts'), 'utf8') },
  (name) => {
    try {
      return readFileSync(join(libDir, name), 'utf8');
    } catch {
      return undefined;
    }
  },
);
// clang and Binaryen are loaded when the first program of C comes.
const native = () => import('./c/submission.ts');
const answer = (m: FromCompileServer): void => void process.send!(m);

process.on('message', (m: ToCompileServer) => {
  void (async () => {
    try {
      if (m.type === 'warm') {
        await bundle('main.ts', new Map([['main.ts', '']]), checker.exports, workingDir);
        answer({ type: 'warm', id: m.id });
      } else answer({ type: 'result', id: m.id, result: 'language' in m.request ? await (await native()).compileModule(m.request) : await compile(m.request, checker, workingDir) });
    } catch (error) {
      answer({ type: 'failed', id: m.id, message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  })();
});
answer({ type: 'ready' });
