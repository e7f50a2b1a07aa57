/**
 * One compiler for all test files: TypeScript and clang take seconds of processor time until they are warm, and a
 * server that a test starts has compile processes of its own. `compileServer` is what such a server starts in their
 * place: a process (shared-compile-server-for-tests.mjs) that passes programs on to this compiler. A program is
 * compiled once for all tests.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { AnyResult } from './compile-protocol.ts';
import type { CompileRequest, NativeRequest } from './compile-request.ts';
import { createCompiler } from './compiler.ts';
import { compileServerPath } from './dist-files.ts';

export interface SharedCompiler {
  /** For the option `compileServer` of a server. */
  readonly compileServer: string;
  close(): Promise<void>;
}

/** Options of a server that is to use it: none where tests run without vitest.setup.mjs. */
export function sharedCompiler(): { readonly compileServer?: string } {
  const { MAYFLY_TEST_COMPILE_SERVER: compileServer } = process.env;
  return compileServer === undefined ? {} : { compileServer };
}

export async function shareCompiler(): Promise<SharedCompiler> {
  const compiler = createCompiler({
    workers: 2,
    // A server has limits of its own for sizes, and refuses what is too large before it gets here.
    maxSourceBytes: Infinity,
    maxFiles: Infinity,
    maxQueue: Infinity,
    // Both stay warm to the end.
    extraIdleMs: 86_400_000,
    idleMs: 86_400_000,
  });
  const results = new Map<string, Promise<AnyResult>>();
  let asked = 0;
  const resultOf = (bytes: Buffer): Promise<AnyResult> => {
    const hash = createHash('sha256').update(bytes).digest('base64');
    const known = results.get(hash);
    if (known !== undefined) return known;
    const request = deserialize(bytes) as CompileRequest | NativeRequest;
    // Nobody's turn depends on who asked before.
    const asker = { owner: String(++asked) };
    const result = 'language' in request ? compiler.compileModule(request, asker) : compiler.compile(request, asker);
    results.set(hash, result);
    return result;
  };

  const folder = mkdtempSync(join(tmpdir(), 'mayfly-shared-compiler-'));
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\mayfly-compiler-${process.pid}` : join(folder, 'socket');
  const sockets = new Set<Socket>();
  // One request a connection: the client ends its side behind it.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const parts: Buffer[] = [];
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The server of that test was closed, or killed its compile process.
    socket.on('error', () => socket.destroy());
    socket.on('data', (part) => parts.push(part));
    socket.on('end', () => {
      resultOf(Buffer.concat(parts)).then(
        (result) => socket.end(serialize({ result })),
        (error: unknown) => socket.end(serialize({ message: String(error) })),
      );
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve));
  const compileServer = join(folder, 'compile-server.mjs');
  const code = new URL('shared-compile-server-for-tests.mjs', import.meta.url).href;
  const real = compileServerPath();
  writeFileSync(
    compileServer,
    `import { serve } from ${JSON.stringify(code)};\nserve(${JSON.stringify({ address, real })});\n`,
  );
  return {
    compileServer,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, compiler.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
