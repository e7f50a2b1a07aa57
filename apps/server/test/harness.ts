/** A real server on a fresh data directory and a free port, closed and removed after the test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { createServer, type MayflyServer, type ServerOptions } from '@mayfly/server';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';

export const TOKEN = 'test-token-1234';
const cleanup: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const f of cleanup.splice(0).reverse()) await f();
});
export const later = (f: () => Promise<unknown>): void => void cleanup.push(f);

export async function freshDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'mayfly-server-'));
  later(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function startServer(options: Partial<ServerOptions> = {}): Promise<MayflyServer> {
  const dataDir = options.dataDir ?? (await freshDir());
  const server = await createServer({
    port: 0,
    token: TOKEN,
    log: process.env.MAYFLY_TEST_LOG === undefined ? 'silent' : 'debug',
    ...sharedCompiler(),
    ...options,
    dataDir,
  });
  later(() => server.close());
  return server;
}

let shared: Promise<MayflyServer> | undefined;
/** One server for all tests of a file that ask for it with the same options: its compiler is warm after the first. */
export function sharedServer(options: Partial<ServerOptions> = {}): Promise<MayflyServer> {
  shared ??= (async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'mayfly-server-'));
    const server = await createServer({
      port: 0,
      token: TOKEN,
      log: process.env.MAYFLY_TEST_LOG === undefined ? 'silent' : 'debug',
      ...sharedCompiler(),
      ...options,
      dataDir,
    });
    atEnd = async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    };
    return server;
  })();
  return shared;
}
let atEnd: (() => Promise<void>) | undefined;
afterAll(() => atEnd?.());

export const auth = { authorization: `Bearer ${TOKEN}` };

export async function api(
  server: MayflyServer,
  method: string,
  path: string,
  body?: unknown,
  // Answers are looked at by matchers.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
): Promise<{ status: number; body: any }> {
  const response = await fetch(server.localUrl + path, {
    method,
    headers: {
      ...auth,
      ...(body === undefined
        ? {}
        : body instanceof Uint8Array
          ? { 'content-type': 'application/octet-stream' }
          : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? (body as never) : JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Bytes of a stream.
  }
  return { status: response.status, body: parsed };
}

export { until } from '@mayfly/testing';

/** A door that the test opens: a program that waits at it is certainly there when the test does it harm. */
export function door(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** A program of one file. */
export const program = (source: string, size: number, more: object = {}): object => ({
  program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': source } },
  size,
  ...more,
  options: { team: 1, ...(more as { options?: object }).options }, // the nodes of these tests know no rings
});
