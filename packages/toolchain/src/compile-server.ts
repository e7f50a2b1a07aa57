/**
 * The compile process, `compile-server <its folder>`: serves one request at a time over its IPC channel, from a warm TypeScript, a warm esbuild and a warm clang. Its parent
 * (compiler.ts) limits its memory and time, and kills it when it is over; it holds no state that matters.
 *
 * Each language is loaded with its first program: TypeScript and esbuild for scripts, clang and Binaryen for C.
 */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FromCompileServer, ToCompileServer } from './compile-protocol.ts';
import type { ScriptCompiler } from './script-compiler.ts';

const here = dirname(fileURLToPath(import.meta.url));
const workingDir = process.argv[2]!;
process.on('exit', () => rmSync(workingDir, { recursive: true, force: true }));
// The parent is gone: so are we (and esbuild, whose input closes).
process.on('disconnect', () => process.exit(0));

const native = () => import('./c/submission.ts');
let scripts: Promise<ScriptCompiler> | undefined;
const script = (): Promise<ScriptCompiler> => (scripts ??= import('./script-compiler.ts').then((m) => m.createScriptCompiler(here, workingDir)));
const answer = (m: FromCompileServer): void => void process.send!(m);

process.on('message', (m: ToCompileServer) => {
  void (async () => {
    try {
      if (m.type === 'warm') {
        await (await script()).warm();
        answer({ type: 'warm', id: m.id });
      } else answer({ type: 'result', id: m.id, result: 'language' in m.request ? await (await native()).compileModule(m.request) : await (await script()).compile(m.request) });
    } catch (error) {
      answer({ type: 'failed', id: m.id, message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  })();
});
answer({ type: 'ready' });
