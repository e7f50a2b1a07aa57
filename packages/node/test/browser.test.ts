/**
 * Real tabs of Chromium as nodes: the sandboxed frame, its workers, the daemon, identity over reloads, and what an
 * escape would find. Memory without end: playwright/tests/memory.spec.ts.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@mayfly/testing';
import { chromium, type Browser, type BrowserContext, type Page } from '@playwright/test';
import { build as bundle } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXPECTED } from '@mayfly/checkpoint/acceptance';
import { EXPECTED_CODES } from '@mayfly/checkpoint/acceptance/codes';
import type { VolunteerSnapshot } from '../src/page/index.ts';
import { Bench, deafProxy, HOLD, log } from './harness.ts';

const executable = [process.env.MAYFLY_BROWSER, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (p) => p !== undefined && existsSync(p),
);
const webRoot = mkdtempSync(join(tmpdir(), 'mayfly-page-'));
const bench = new Bench({ webRoot });
let browser: Browser;
const contexts: BrowserContext[] = [];

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
beforeAll(async () => {
  if (!executable) return;
  mkdirSync(join(webRoot, 'assets'));
  const common = { bundle: true, format: 'esm', platform: 'browser', target: 'chrome111', logLevel: 'error' } as const;
  await Promise.all([
    bundle({ ...common, entryPoints: [at('browser-page.ts')], outfile: join(webRoot, 'assets/page.js') }),
    bundle({
      ...common,
      entryPoints: [at('../src/daemon/entry-browser.ts')],
      outfile: join(webRoot, 'assets/daemon.js'),
    }),
    bundle({
      ...common,
      entryPoints: [at('../../checkpoint/src/acceptance/in-browser.ts')],
      outfile: join(webRoot, 'assets/local.js'),
    }),
  ]);
  writeFileSync(
    join(webRoot, 'index.html'),
    '<!doctype html><meta charset="utf-8"><body><script type="module" src="/assets/page.js"></script>',
  );
  await bench.start();
  browser = await chromium.launch({
    executablePath: executable,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
});
interface Here {
  id: string;
  name: string;
  state: string;
}
const nodes = async (): Promise<Here[]> => (await (await bench.api('nodes')).json()) as Here[];
const here = async (): Promise<string[]> => (await nodes()).filter((n) => n.state === 'here').map((n) => n.name);
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((c) => c.close()));
  await bench.clear();
  // Or the next test's ranks may go to a tab that is closed, while the server still waits for its next poll.
  if (executable) await expect.poll(here).toEqual([]);
});
afterAll(async () => {
  await browser?.close();
  if (executable) await bench.close();
  rmSync(webRoot, { recursive: true, force: true });
});

const snapshot = (page: Page): Promise<VolunteerSnapshot> =>
  page.evaluate(() => (globalThis as unknown as { volunteer: { snapshot(): VolunteerSnapshot } }).volunteer.snapshot());
async function tab(name: string, slots = 2, context?: BrowserContext, url = bench.server.url): Promise<Page> {
  const c = context ?? (await browser.newContext());
  if (!context) contexts.push(c);
  const page = await c.newPage();
  if (log) page.on('console', (m) => console.log(`[${name}] ${m.text()}`));
  page.on('pageerror', (e) => console.log(`[${name}] page error ${e.message}`));
  await page.goto(`${url}/volunteer?start&slots=${slots}&name=${name}`);
  await phase(page, 'idle');
  return page;
}
async function phase(page: Page, wanted: VolunteerSnapshot['phase']): Promise<VolunteerSnapshot> {
  let s!: VolunteerSnapshot;
  await until(
    () => `the tab is ${wanted}; it is ${s.phase} (${s.reason ?? ''}): ${JSON.stringify(s.history)}`,
    async () => (s = await snapshot(page)).phase === wanted,
  );
  return s;
}

const LOOP = `import { COMM_WORLD as comm, checkpoint, stdin } from 'mayfly';
  const state = { step: 0, sum: 0 };
  checkpoint.register('state', state);
  if (checkpoint.open().restarted) checkpoint.rollback('state');
  const right = (comm.rank + 1) % comm.size, left = (comm.rank + comm.size - 1) % comm.size, b = new Float64Array(1);
  for (; state.step < 300; state.step++) {
    checkpoint.here(state.step % 100 === 0);
    let w = 0; for (let i = 0; i < 500_000; i++) w += Math.sqrt(i); if (w < 0) console.log(w);
    comm.sendrecv(new Float64Array([Math.sin(state.step) + state.sum]), right, 1, b, left, 1);
    state.sum = b[0]! * 0.5 + comm.rank;
    if (state.step % 100 === 99) console.log(state.step, state.sum);
  }
  ${HOLD}`;
const HELD = { options: { checkpointMs: 200, interactive: true } };

describe.skipIf(!executable)('tabs', () => {
  it('keep local images as a node without a browser does, over several connections', async () => {
    const context = await browser.newContext();
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(bench.server.url);
    const seen = await page.evaluate(`import('/assets/local.js').then((m) => m.run())`);
    expect(seen).toEqual(EXPECTED);
  });

  it('encode and decode with erasure codes as Node does, both kernels', async () => {
    const context = await browser.newContext();
    contexts.push(context);
    const page = await context.newPage();
    await page.goto(bench.server.url);
    expect(await page.evaluate(`import('/assets/local.js').then((m) => m.codes())`)).toEqual(EXPECTED_CODES);
  });

  it('run ranks, in an isolated frame, with the answer of a headless node bit for bit', async () => {
    const page = await tab('one', 2);
    expect(
      await page.evaluate(() => (globalThis as unknown as { whyNotHere(): string | undefined }).whyNotHere()),
    ).toBeUndefined();
    const inTab = await bench.ended(await bench.submit(LOOP, 2));
    expect(inTab.job.error).toBeUndefined();
    await page.close();
    await bench.node(2);
    const inNode = await bench.ended(await bench.submit(LOOP, 2));
    expect(inNode.stdout).toEqual(inTab.stdout);
  });

  it('report what a program threw, with its message and stack', async () => {
    await tab('thrower', 1);
    const { job } = await bench.ended(
      await bench.submit(`function f(): never {\n  throw new TypeError('no luck');\n}\nf();`, 1),
    );
    expect(job.error).toMatchObject({ code: 'PROGRAM_ERROR' });
    expect(job.error?.message).toContain('TypeError: no luck');
    console.log(JSON.stringify(job.error));
  });

  it('a reload comes back as the same node; its ranks go on from their images', async () => {
    const page = await tab('reloaded', 2);
    const id = (await snapshot(page)).nodeId;
    const job = await bench.submit(LOOP, 2, HELD);
    await bench.until(job, (j) => j.tasks.every((t) => t.images >= 1));
    await page.reload();
    await phase(page, 'working');
    expect((await snapshot(page)).nodeId).toBe(id);
    await bench.input(job);
    const { job: view, stdout } = await bench.ended(job);
    expect(view.error).toBeUndefined();
    expect(view.tasks.map((t) => t.incarnation)).toEqual([1, 1]);
    expect(stdout.map((s) => s.split('\n').length)).toEqual([4, 4]);
    console.log(
      view.faults.map((f) => `${f.cause}: task ${f.task} recovered after ${f.recoveredAfterMs} ms`).join('; '),
    );
  });

  it('a duplicated tab, which has a copy of the session storage, is another node', async () => {
    const page = await tab('first', 1);
    const storage = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
    const context = contexts[0]!;
    const second = await context.newPage();
    await second.addInitScript((s) => {
      if (sessionStorage.length === 0)
        for (const [k, v] of Object.entries(JSON.parse(s) as Record<string, string>)) sessionStorage.setItem(k, v);
    }, storage);
    await second.goto(`${bench.server.url}/volunteer?start&slots=1&name=copy`);
    const copy = await phase(second, 'idle');
    expect(copy.nodeId).toBeDefined();
    expect(copy.nodeId).not.toBe((await snapshot(page)).nodeId);
    await phase(page, 'idle');
  });

  it('behind a proxy that breaks WebSockets, a tab falls back to long polling', async () => {
    const proxy = await deafProxy(bench.server.url);
    await tab('polling', 2, undefined, proxy.url);
    const { job, stdout } = await bench.ended(
      await bench.submit(
        `import { COMM_WORLD as comm, SUM } from 'mayfly'; console.log(comm.allreduce(comm.rank + 1, SUM));`,
        2,
      ),
    );
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(['3\n', '3\n']);
    expect(proxy.upgrades()).toBeGreaterThan(0);
    await Promise.all(contexts.splice(0).map((c) => c.close()));
    await proxy.close();
  });

  it('a lost network: the tab keeps its ranks and resumes them', async () => {
    const page = await tab('offline', 1);
    await tab('online', 1);
    const job = await bench.submit(LOOP, 2, { options: { ...HELD.options, graceMs: 600_000 } });
    await bench.until(job, (j) => j.tasks.every((t) => t.messagesIn > 20));
    const node = (await snapshot(page)).nodeId;
    const state = async (): Promise<string | undefined> => (await nodes()).find((n) => n.id === node)?.state;
    await page.context().setOffline(true);
    await until('the note has gone', async () => (await state()) !== 'here');
    await page.context().setOffline(false);
    await until('the note is here', async () => (await state()) === 'here');
    await bench.input(job);
    const { job: view, stdout } = await bench.ended(job);
    expect(view.error).toBeUndefined();
    expect(view.tasks.map((t) => t.incarnation)).toEqual([0, 0]);
    expect(stdout.map((s) => s.split('\n').length)).toEqual([4, 4]);
  });

  it('an escape from the scrubbed globals finds nothing but the data endpoint', async () => {
    await tab('sandbox', 1);
    // What a program could get back by a fault of the scrub, tried here from inside the frame's own workers.
    const page = contexts[0]!.pages()[0]!;
    const frame = await page.evaluateHandle(async () => {
      const f = document.createElement('iframe');
      f.setAttribute('sandbox', 'allow-scripts');
      f.setAttribute('allow', 'cross-origin-isolated');
      f.src = '/frame/index.html';
      const loaded = new Promise((r) => f.addEventListener('load', r));
      document.body.append(f);
      await loaded;
      return f;
    });
    const inside = (await frame.asElement()!.contentFrame())!;
    const found = await inside.evaluate(async () => {
      const url = URL.createObjectURL(
        new Blob(
          [
            `onmessage = async () => {
              const r = { isolated: crossOriginIsolated, origin: self.origin };
              const tryIt = async (name, f) => {
                try {
                  r[name] = String(await f()).slice(0, 60);
                } catch (e) {
                  r[name] = 'no: ' + e.name;
                }
              };
              await tryIt('sab', () => new SharedArrayBuffer(8).byteLength);
              await tryIt('data', () => fetch(ORIGIN + '/data/program/aaaaaaaaaaaa?cap=none').then((x) => x.status));
              await tryIt('api', () => fetch(ORIGIN + '/api/info').then((x) => x.status));
              await tryIt('page', () => fetch(ORIGIN + '/').then((x) => x.status));
              await tryIt('elsewhere', () => fetch('https://example.com/').then((x) => x.status));
              await tryIt(
                'socket',
                () =>
                  new Promise((ok, no) => {
                    const s = new WebSocket('wss://example.com/');
                    s.onopen = () => ok('open');
                    s.onerror = () => no(new Error('refused'));
                  }),
              );
              await tryIt(
                'control',
                () =>
                  new Promise((ok, no) => {
                    const s = new WebSocket(ORIGIN.replace('http', 'ws') + '/socket.io/?EIO=4&transport=websocket');
                    s.onopen = () => ok('open');
                    s.onerror = () => no(new Error('refused'));
                  }),
              );
              await tryIt(
                'indexedDB',
                () =>
                  new Promise((ok, no) => {
                    const q = indexedDB.open('x');
                    q.onsuccess = () => ok('open');
                    q.onerror = () => no(q.error);
                  }),
              );
              await tryIt('caches', () => caches.open('x'));
              await tryIt('eval', () => eval('1+1'));
              await tryIt('import', () => import('https://example.com/x.js'));
              await tryIt('importScripts', () => importScripts('https://example.com/x.js'));
              await tryIt(
                'dataWorker',
                () =>
                  new Promise((ok, no) => {
                    const w = new Worker('data:text/javascript,postMessage(1)');
                    w.onmessage = () => ok('runs');
                    w.onerror = () => no(new Error('refused'));
                  }),
              );
              await tryIt(
                'nested',
                () =>
                  new Promise((ok, no) => {
                    const w = new Worker(
                      URL.createObjectURL(
                        new Blob([
                          "fetch('https://example.com/').then(() => postMessage('out'), () => postMessage('in'))",
                        ]),
                      ),
                    );
                    w.onmessage = (e) => ok(e.data);
                    w.onerror = () => no(new Error('refused'));
                  }),
              );
              await tryIt('rtc', () => typeof RTCPeerConnection);
              postMessage(r);
            };`.replaceAll('ORIGIN', JSON.stringify(new URL(document.querySelector('script')!.src).origin)),
          ],
          { type: 'text/javascript' },
        ),
      );
      const w = new Worker(url);
      const r = new Promise<Record<string, string>>((ok) => (w.onmessage = (e) => ok(e.data)));
      w.postMessage(0);
      return r;
    });
    console.log(JSON.stringify(found));
    expect(found.isolated).toBe(true);
    expect(found.origin).toBe('null');
    expect(found.sab).toBe('8');
    expect(found.data).toMatch(/^40[034]$/);
    for (const closed of [
      'api',
      'page',
      'elsewhere',
      'socket',
      'control',
      'indexedDB',
      'caches',
      'eval',
      'import',
      'importScripts',
      'dataWorker',
    ])
      expect(found[closed], closed).toMatch(/^no: /);
    expect(found.nested).toMatch(/^(in|no: )/);
    expect(found.rtc).toBe('undefined');
  });
});
