/**
 * The server as a process of its own, to be killed with SIGKILL. Bundled once per test run, as the command line does
 * it.
 */
import { build } from 'esbuild';
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import { later, TOKEN } from './harness.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
let bundled: Promise<string> | undefined;

/**
 * With one argument a server with these options, one of several when they name a store; with `serve <dir> [tls]` or
 * `check <dir>` what damage.test.ts needs.
 */
const SOURCE = `
import { checkDataDirectory, createServer, createSharedServer } from '@mayfly/server';
const [what, dir, tls] = process.argv.slice(2);
if (what === 'check') {
  const { problems } = await checkDataDirectory(dir).catch((error) => {
    console.log('cannot check: ' + error.message);
    process.exit(2);
  });
  for (const p of problems) console.log(p.file + ' ' + p.what);
  process.exit(problems.length > 0 ? 1 : 0);
}
const served = {
  dataDir: dir,
  port: 0,
  token: '${TOKEN}',
  log: 'info',
  dispatcher: { restartGraceMs: 0, graceMs: 60000, silentMs: 60000 },
  ...(tls ? { tls: 'selfsigned' } : {}),
};
const options = what === 'serve' ? served : JSON.parse(what);
const failed = (error) => {
  console.log(error.message);
  process.exit(1);
};
const saying = (what) => (at) => console.log(what + ' ' + (at.address ?? at.localUrl));
const shared = { ...options, onStandBy: saying('stands by for'), onServing: saying('serves on') };
const server = options.store
  ? await createSharedServer(shared).catch(failed)
  : await createServer(options).catch(failed);
server.ended?.catch((error) => error.name === 'AbortError' || failed(error));
console.log('listening on ' + (server.localUrl ?? 'http://127.0.0.1:' + server.port));
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
`;

async function bundle(): Promise<string> {
  // Below the package, so that packages of the registry are found.
  const outfile = `${here}../dist/test/server-${process.pid}.mjs`;
  await build({
    stdin: { contents: SOURCE, resolveDir: here, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    plugins: [
      {
        name: 'registry packages stay outside',
        setup(b) {
          b.onResolve({ filter: /^[^./#]/ }, (a) =>
            a.path.startsWith('@mayfly/') ? undefined : { path: a.path, external: true },
          );
        },
      },
    ],
  });
  return outfile;
}

export const serverFile = (): Promise<string> => (bundled ??= bundle());

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** It stands still, or goes on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  stop(): Promise<number | null>;
  /** What it has written so far: structured logs, one JSON line each, and what ended it. */
  output(): string;
}

export async function startProcess(options: {
  dataDir: string;
  store?: string;
  leaseMs?: number;
  port?: number;
  tls?: 'selfsigned';
  channelMemories?: number;
  dispatcher?: object;
  limits?: object;
  pingMs?: number;
  log?: 'info';
  reserveBytes?: number;
}): Promise<ServerProcess> {
  const file = await (bundled ??= bundle());
  const toolchain = fileURLToPath(new URL('../../../packages/toolchain/dist/compile-server.mjs', import.meta.url));
  const log = process.env.MAYFLY_TEST_LOG === undefined ? 'error' : 'debug';
  const child: ChildProcess = spawn(
    process.execPath,
    [file, JSON.stringify({ port: 0, token: TOKEN, log, compileServer: toolchain, ...sharedCompiler(), ...options })],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const over = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  later(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await over;
  });
  let text = '';
  child.stderr!.on('data', (d: Buffer) => {
    text += d.toString();
    process.stderr.write(d);
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', (d: Buffer) => {
      text += d.toString();
      if (process.env.MAYFLY_TEST_LOG !== undefined) process.stdout.write(d);
      const m = /listening on (https?:\S+)/.exec(text);
      if (m) resolve(m[1]!);
    });
    void over.then((code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid!,
    async kill() {
      child.kill('SIGKILL');
      await over;
    },
    signal: (signal) => void child.kill(signal),
    stop() {
      child.kill('SIGTERM');
      return over;
    },
    output: () => text,
  };
}
