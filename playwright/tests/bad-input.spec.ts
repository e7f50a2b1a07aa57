/**
 * Bad programs and bad requests: each gives a clear error to whoever caused it, and ends nothing else. A healthy job
 * runs beside them all the time (it waits at its end until they are done) and must end with its answer. Memory without
 * end: memory.spec.ts.
 */
import { expect, test } from '@playwright/test';
import { classroom } from '../src/classroom.ts';
import { ApiError, source } from '../src/client.ts';

const HEALTHY = source(
  'healthy',
  `import { COMM_WORLD as comm, stdin, SUM } from 'mayfly';
   const mine = Float64Array.of(comm.rank + 1), all = new Float64Array(1);
   for (let i = 0; i < 1000; i++) comm.allreduce(mine, all, SUM);
   if (comm.rank === 0) stdin.readLine();
   comm.barrier();
   if (comm.rank === 0) console.log('sum', all[0]);`,
);

const room = classroom();

/** Runs `bad` while a healthy job runs, and asserts that only the bad one fails. */
async function beside(bad: () => Promise<void>): Promise<void> {
  const healthy = await room.client.submit(HEALTHY, 2, [], { interactive: true });
  await room.client.until(healthy.id, 'running', (j) => j.tasks.every((t) => t.state === 'running'));
  await bad();
  await room.client.input(healthy.id);
  const end = await room.client.ended(healthy.id);
  expect(end.error).toBeUndefined();
  expect(end.faults).toEqual([]);
  expect((await room.client.answer(end)).stdout).toEqual(['sum 3\n', '']);
}

async function fails(text: string, size: number, options = {}): Promise<{ code: string; message: string }> {
  const job = await room.client.submit(source('bad', text), size, [], options);
  const end = await room.client.ended(job.id);
  expect(end.state).toBe('failed');
  return end.error!;
}

test('a program that does not compile is refused with file, line and message', async () => {
  await beside(async () => {
    const error = await room.client
      .submit(source('bad', `import { COMM_WORLD } from 'mayfly';\nconst n: number = 'x';\nCOMM_WORLD.send(n`), 1)
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    const { status, body } = error as ApiError;
    expect(status).toBe(422);
    expect(body.code).toBe('COMPILE_FAILED');
    expect(body.diagnostics?.[0]).toMatchObject({ file: 'main.ts' });
  });
});

test('a program that never calls MPI just runs', async () => {
  const job = await room.client.submit(source('hello', `console.log('hello');`), 2);
  const end = await room.client.ended(job.id);
  expect(end.state).toBe('done');
  expect((await room.client.answer(end)).stdout).toEqual(['hello\n', 'hello\n']);
});

test('an endless loop meets the time limit', async () => {
  await beside(async () => {
    const error = await fails(`import { COMM_WORLD } from 'mayfly'; for (let i = 0; COMM_WORLD.size > 0; i++);`, 1, {
      timeLimitMs: 3000,
    });
    expect(error.code).toBe('TIME_LIMIT');
  });
});

test('an uncaught error names the line of the source', async () => {
  await beside(async () => {
    const error = await fails(
      `import { COMM_WORLD as comm } from 'mayfly';\n\nif (comm.rank === 1) throw new Error('boom');\ncomm.barrier();`,
      2,
    );
    expect(error.code).toBe('PROGRAM_ERROR');
    expect(error.message).toContain('boom');
    expect(error.message).toContain('main.ts:3');
  });
});

test.describe('wrong arguments name the call and what is allowed', () => {
  for (const [what, call, says] of [
    ['rank', 'comm.send(new Int32Array(1), 7, 0)', /MPI_Send.*rank.*7/s],
    ['tag', 'comm.send(new Int32Array(1), 0, -5)', /MPI_Send.*tag.*-5/s],
    ['truncation', 'comm.isend(new Int32Array(4), 0, 1); comm.recv(new Int32Array(1), 0, 1)', /MPI_Recv.*truncat/is],
  ] as const)
    test(what, async () => {
      const error = await fails(`import { COMM_WORLD as comm } from 'mayfly'; ${call};`, 1);
      expect(error.code).toBe('MPI_ERROR');
      expect(error.message).toMatch(says);
    });
});

test('abort ends the job with its code', async () => {
  await beside(async () => {
    const job = await room.client.submit(
      source(
        'abort',
        `import { COMM_WORLD as comm } from 'mayfly'; if (comm.rank === 0) comm.abort(42); comm.barrier();`,
      ),
      2,
    );
    const end = await room.client.ended(job.id);
    expect(end).toMatchObject({ state: 'failed', exitCode: 42, error: { code: 'ABORTED' } });
  });
});

test('a deadlock is reported with who waits in which call for whom', async () => {
  const error = await fails(
    `import { COMM_WORLD as comm } from 'mayfly'; comm.recv(new Int32Array(1), 1 - comm.rank, 5);`,
    2,
  );
  expect(error.code).toBe('DEADLOCK');
  expect(error.message).toMatch(/rank 0.*MPI_Recv.*rank 1/s);
  expect(error.message).toMatch(/rank 1.*MPI_Recv.*rank 0, tag 5, at main\.ts:1$/m);
});

test('timers, network, workers and storage do not exist and say so', async () => {
  const probe = (expr: string): string =>
    `try { ${expr}; console.log('LEAK ${expr.replaceAll("'", '"')}'); } catch (e) { console.log(String((e as ` +
    'Error).message)); }';
  const exprs = [
    `(globalThis as any).setTimeout(() => 0, 1)`,
    `(globalThis as any).fetch('/')`,
    `new (globalThis as any).WebSocket('ws://x')`,
    `new (globalThis as any).Worker('x')`,
    `(globalThis as any).indexedDB.open('x')`,
    `new (globalThis as any).XMLHttpRequest()`,
    `(globalThis as any).importScripts('x')`,
    `new (globalThis as any).BroadcastChannel('x')`,
    `(globalThis as any).postMessage('x')`,
  ];
  const job = await room.client.submit(source('probes', exprs.map(probe).join('\n')), 1);
  const end = await room.client.ended(job.id);
  expect(end.error).toBeUndefined();
  const out = (await room.client.answer(end)).stdout[0]!.trim().split('\n');
  expect(out).toHaveLength(exprs.length);
  for (const line of out) expect(line).toMatch(/^(?!LEAK).*(MPI program|is not available)/);
});

test.describe('nothing leads out of a rank in a tab', () => {
  /**
   * Each is an expression that gives something away when it gives anything but undefined; what throws, or rejects, is
   * shut. `g` is the global object, `F` the constructor of functions, however got.
   */
  const GLOBALS = [
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'EventSource',
    'WebTransport',
    'RTCPeerConnection',
    'importScripts',
    'Worker',
    'SharedWorker',
    'BroadcastChannel',
    'MessageChannel',
    'indexedDB',
    'caches',
    'localStorage',
    'sessionStorage',
    'cookieStore',
    'Notification',
    'FileReaderSync',
    'document',
    'window',
    'parent',
    'top',
    'opener',
    'frames',
  ];
  const REALMS = [
    `(async () => {}).constructor('return this')()`,
    `Function('return this')()`,
    `(0, eval)('this')`,
    `[].constructor.constructor('return this')()`,
    `(function* () {}).constructor('return this')().next().value`,
  ];
  const USES: Record<string, string> = {
    fetch: `g.fetch('/api/jobs')`,
    beacon: `g.navigator.sendBeacon('/api/jobs', 'x')`,
    opfs: `g.navigator.storage.getDirectory()`,
    serviceWorker: `g.navigator.serviceWorker.register('/x.js')`,
    postMessage: `(g.postMessage({ type: 'exit' }), 1)`,
    onmessage: `g.dispatchEvent(new g.MessageEvent('message', { data: { type: 'stop' } }))`,
    prototypes: `Object.getPrototypeOf(Object.getPrototypeOf(g)).postMessage ?? Object.getPrototypeOf(g).importScripts`,
    inherited:
      '(() => { for (let o = g; o; o = Object.getPrototypeOf(o)) { const d = ' +
      `Object.getOwnPropertyDescriptor(o, 'fetch') ?? Object.getOwnPropertyDescriptor(o, 'importScripts'); if ` +
      `(d) { const v = d.value ?? d.get.call(g); v.call(g, 'data:,'); return 1; } } })()`,
    frames:
      '(() => { let seen; const P = Error.prepareStackTrace; Error.prepareStackTrace = (_, s) => { seen = ' +
      `s.map((c) => c.getThis?.()).find((t) => t !== undefined && typeof t === 'object' && t.fetch); return ` +
      `''; }; void new Error('x').stack; Error.prepareStackTrace = P; return seen && seen.fetch('/'); })()`,
  };
  test('from TypeScript: network, storage, other threads, the page, and the ways around', async () => {
    const lines = [
      `// @ts-nocheck`,
      `const g = globalThis as any;`,
      'const show = (n: string, f: () => any) => { try { const v = f(); console.log(n, v === undefined ? ' +
        `'shut' : 'OPEN ' + String(v)); } catch { console.log(n, 'shut'); } };`,
      // Shows that the probes show.
      `show('control', () => 1);`,
      // A stub that says what it is when called is as good as nothing.
      ...GLOBALS.map(
        (n) =>
          `show('${n}', () => { const v = g['${n}']; if (typeof v === 'function') { try { return new v('x'); ` +
          `} catch { return v.call(g, 'x'); } } return typeof v === 'object' && v !== null ? ` +
          'Object.keys(v).length + Object.getOwnPropertyNames(Object.getPrototypeOf(v) ?? {}).map((k) => { ' +
          `try { return v[k] === undefined ? '' : k; } catch { return ''; } }).join('') || undefined : v; });`,
      ),
      ...REALMS.map(
        (r, i) =>
          `show('realm ${i}', () => { const r: any = ${r.replaceAll('Function(', '(g.Function as any)(')}; ` +
          `return r && r.fetch('/api/info'); });`,
      ),
      ...Object.entries(USES).map(([n, u]) => `show('${n}', () => ${u});`),
    ];
    const job = await room.client.submit(source('escape', lines.join('\n')), 1);
    const end = await room.client.ended(job.id);
    expect(end.error).toBeUndefined();
    const out = (await room.client.answer(end)).stdout[0]!.trim().split('\n');
    expect(out).toHaveLength(1 + GLOBALS.length + REALMS.length + Object.keys(USES).length);
    expect(out.filter((l) => !l.endsWith(' shut'))).toEqual(['control OPEN 1']);
  });

  test('from C: files of the machine, other folders, its environment, a module with imports of its own', async () => {
    const main = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *paths[] = {"/etc/passwd", "../../etc/passwd", "/proc/self/environ", "/data/program", "mayfly-data/registry/data.mdb"};
  for (int i = 0; i < 5; i++) printf("%s %s\\n", paths[i], fopen(paths[i], "r") ? "OPEN" : "shut");
  printf("PATH %s\\n", getenv("PATH") && getenv("PATH")[1] ? "OPEN" : "shut");
  printf("own %s\\n", fopen("own.txt", "w") ? "control" : "none");
  MPI_Finalize();
}
`;
    const job = await room.client.submit(
      { name: 'escape-c', program: { language: 'c', sources: { 'main.c': main } } },
      1,
    );
    const end = await room.client.ended(job.id);
    expect(end.error).toBeUndefined();
    const out = (await room.client.answer(end)).stdout[0]!.trim().split('\n');
    expect(out).toHaveLength(7);
    expect(out.filter((l) => !l.endsWith(' shut'))).toEqual(['own control']);
    // (module (import "env" "fetch" (func)))
    const module = Buffer.from([
      0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 13, 1, 3, 101, 110, 118, 5, 102, 101, 116, 99, 104, 0, 0,
    ]).toString('base64');
    const refused = await room.client.request('POST', '/api/jobs', { program: { language: 'wasm', module }, size: 1 });
    expect(await refused.json()).toMatchObject({ code: 'BAD_MODULE' });
  });

  test('a dynamic import of an address is refused before anything runs', async () => {
    const error = await room.client
      .submit(source('import', `const x = await import('https://example.com/x.js'); console.log(x);`), 1)
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(['FORBIDDEN_IMPORT', 'COMPILE_FAILED']).toContain((error as ApiError).body.code);
  });
});

test('wrong tokens and oversized or malformed requests are refused', async () => {
  await beside(async () => {
    expect((await room.client.request('GET', '/api/jobs', undefined, 'wrong')).status).toBe(401);
    expect((await room.client.request('POST', '/api/jobs', { size: 1 }, null)).status).toBe(401);
    const bad = await room.client.request('POST', '/api/jobs', { size: 'many' });
    expect(bad.status).toBe(400);
    expect(await bad.json()).toMatchObject({ code: 'BAD_REQUEST' });
    const big = await room.client.request('POST', '/api/jobs', { ...HEALTHY, stdin: 'x'.repeat(200 << 20) });
    expect(big.status).toBe(413);
    expect((await room.client.request('GET', '/api/jobs/000000000000')).status).toBe(404);
    expect((await room.client.request('GET', '/api/jobs/..%2f..%2fetc')).status).toBeGreaterThanOrEqual(400);
  });
});
