/**
 * A compile process, `compile-server <its folder>`: serves one request at a time over its IPC channel, from a warm
 * TypeScript, a warm esbuild and a warm clang. Its parent (tool-process.ts) and a thread of its own (watch.ts) limit
 * its memory and time; it holds no state that matters.
 *
 * Each language is loaded with its first program: TypeScript and esbuild for scripts, clang and Binaryen for C.
 */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AnyRequest, AnyResult, FromCompileServer, ToCompileServer } from './compile-protocol.ts';
import type { ScriptCompiler } from './script-compiler.ts';
import { startWatcher } from './watch.ts';

const here = dirname(fileURLToPath(import.meta.url));
const workingDir = process.argv[2]!;
process.on('exit', () => rmSync(workingDir, { recursive: true, force: true }));
// The parent is gone: so are we (and esbuild, whose input closes).
process.on('disconnect', () => process.exit(0));

const native = () => import('./c/submission.ts');
let scripts: Promise<ScriptCompiler> | undefined;
const script = (): Promise<ScriptCompiler> =>
  (scripts ??= import('./script-compiler.ts').then((m) => m.createScriptCompiler(here, workingDir)));
const answer = (m: FromCompileServer): void => void process.send!(m);
const watcher = startWatcher();

async function resultOf(request: AnyRequest): Promise<AnyResult> {
  if (!('language' in request)) return (await script()).compile(request);
  if (request.language === 'archive') return (await import('./unpack-program.ts')).unpackProgram(request);
  return (await native()).compileModule(request);
}

process.on('message', (m: ToCompileServer) => {
  void (async () => {
    try {
      if (m.type === 'warm') {
        await (await script()).warm();
        answer({ type: 'warm', id: m.id });
      } else {
        const done = watcher(m.watch);
        try {
          answer({ type: 'result', id: m.id, result: await resultOf(m.request) });
        } finally {
          done();
        }
      }
    } catch (error) {
      answer({
        type: 'failed',
        id: m.id,
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    }
  })();
});
answer({ type: 'ready' });
