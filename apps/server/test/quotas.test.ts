/** Quotas: what is refused at submission and why, who may set them, what they count; Q1–Q3. */
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createServer, type MayflyServer } from '@mayfly/server';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import type { JobView, QuotaView } from '@mayfly/wire';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOKEN, program } from './harness.ts';

let dataDir: string;
let server: MayflyServer;
let ada: string;
let log = '';
const open = (): Promise<MayflyServer> =>
  createServer({
    dataDir,
    port: 0,
    token: TOKEN,
    ...sharedCompiler(),
    quota: { slots: 3, jobs: 2, bytes: 100_000 },
    limits: { inputBytes: 90_000 },
    log: { level: 'info', stream: new Writable({ write: (chunk, _e, done) => ((log += String(chunk)), done()) }) },
  });
async function ask(
  method: string,
  url: string,
  token: string,
  payload?: unknown,
  // What a test looks at is of many shapes.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
): Promise<{ status: number; body: any }> {
  const r = await server.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: r.statusCode, body: r.json() };
}
const submit = (token: string, size: number, bytes = 0) =>
  ask(
    'POST',
    '/api/jobs',
    token,
    program(`console.log('hello');`, size, { files: { 'in.bin': Buffer.alloc(bytes).toString('base64') } }),
  );
const quota = async (token: string): Promise<QuotaView> => (await ask('GET', '/api/quota', token)).body as QuotaView;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'mayfly-server-'));
  server = await open();
  ada = (await ask('POST', '/api/tokens', TOKEN, { name: 'Ada', role: 'submitter' })).body.token as string;
});
afterAll(async () => {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

it('a submission beyond a quota is refused, and the refusal names the limit, the use and what to do', async () => {
  expect((await submit(ada, 4)).body).toEqual({
    code: 'QUOTA_EXCEEDED',
    message: 'The job has 4 ranks; the quota of Ada is 3 slots at once.',
  });
  // Q2: two at once, of which one would be too many.
  const first = (await submit(ada, 1)).body as { id: string };
  const both = await Promise.all([submit(ada, 1), submit(ada, 1)]);
  expect(both.map((r) => r.status).sort()).toEqual([201, 409]);
  const second = both.find((r) => r.status === 201)!.body as { id: string };
  expect(both.find((r) => r.status === 409)!.body).toEqual({
    code: 'QUOTA_EXCEEDED',
    message: 'Ada has 2 jobs that wait or run; the quota is 2. Cancel one, or wait until one has ended.',
  });
  expect(await quota(ada)).toEqual({
    owner: 'Ada',
    // Of programs and sources.
    used: { slots: 0, jobs: 2, bytes: expect.any(Number) },
    limits: { slots: 3, jobs: 2, bytes: 100_000 },
  });
  const programs = (await quota(ada)).used.bytes;
  expect(programs).toBeGreaterThan(200);
  expect(programs).toBeLessThan(10_000);
  for (const { id } of [first, second]) {
    await ask('POST', `/api/jobs/${id}/cancel`, ada);
    await ask('DELETE', `/api/jobs/${id}`, ada);
  }

  const held = (await submit(ada, 1, 60_000)).body as { id: string };
  const { used } = await quota(ada);
  expect(used).toEqual({ slots: 0, jobs: 1, bytes: expect.closeTo(60_000 + programs / 2, -2) });
  const more = await submit(ada, 1, 60_000);
  expect(more.body).toEqual({
    code: 'QUOTA_EXCEEDED',
    message:
      `The jobs of Ada hold ${Math.ceil(used.bytes / 1000)} kB, and this one brings 60 kB; the quota is 100 kB. ` +
      'Delete jobs that have ended: all that is stored of them goes, too.',
  });
  // Files count until the job is deleted, not only until it has ended. What was refused counts for nothing.
  await ask('POST', `/api/jobs/${held.id}/cancel`, ada);
  expect((await submit(ada, 1, 60_000)).status).toBe(409);
  await ask('DELETE', `/api/jobs/${held.id}`, ada);
  const again = await submit(ada, 1, 60_000);
  expect(again.status).toBe(201);
  await ask('POST', `/api/jobs/${again.body.id}/cancel`, ada);
});

it('standard input counts that comes after the submission, before the job has slots and behind its end', async () => {
  const job = await ask('POST', '/api/jobs', ada, program('', 1, { options: { interactive: true } }));
  const before = (await quota(ada)).used.bytes;
  const url = `/api/jobs/${job.body.id}/stdin`;
  const headers = { authorization: `Bearer ${ada}`, 'content-type': 'application/octet-stream' };
  const typed = await server.inject({ method: 'POST', url, headers, payload: Buffer.alloc(30_000) });
  expect(typed.json()).toEqual({ bytes: 30_000 });
  expect((await quota(ada)).used.bytes).toBe(before + 30_000);
  expect((await submit(ada, 1, 60_000)).body).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  // What is typed is refused as well, here and beyond the limit of input; what is there already may come again.
  const more = (query: string, token: string, bytes: number, to = url) =>
    server
      .inject({
        method: 'POST',
        url: `${to}${query}`,
        headers: { ...headers, authorization: `Bearer ${token}` },
        payload: Buffer.alloc(bytes),
      })
      .then((r) => r.json() as unknown);
  expect(await more('', ada, 25_000)).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect(await more('?offset=0', ada, 30_000)).toEqual({ bytes: 30_000 });
  expect(await more('?offset=20000', ada, 11_000)).toEqual({ bytes: 31_000 });
  expect(await more('', TOKEN, 59_001)).toEqual({
    code: 'TOO_LARGE',
    message:
      'The job has 31000 bytes of input files and standard input, and 59001 more were sent; this server accepts 90000.',
  });
  expect((await quota(ada)).used.bytes).toBe(before + 31_000);
  await ask('POST', `/api/jobs/${job.body.id}/cancel`, ada);
  expect((await ask('POST', `/api/jobs/${job.body.id}/again`, ada)).body).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  expect((await quota(ada)).used.bytes).toBe(before + 31_000);
  await ask('DELETE', `/api/jobs/${job.body.id}`, ada);
  expect((await quota(ada)).used.bytes).toBeLessThan(before);
});

it('a program counts when it is compiled', async () => {
  const bulky = program(`console.log(${JSON.stringify('x'.repeat(101_000))});`, 1);
  expect((await ask('POST', '/api/jobs', ada, bulky)).body).toMatchObject({
    code: 'QUOTA_EXCEEDED',
    message: expect.stringMatching(/brings 2\d\d kB; the quota is 100 kB/),
  });
});

it('Q1: the owner of the first token has no limits but its own, and only an owner’s token sets them', async () => {
  expect((await quota(TOKEN)).limits).toEqual({});
  expect((await submit(TOKEN, 4)).status).toBe(201);
  for (const method of ['PUT', 'DELETE'])
    expect((await ask(method, '/api/quotas/Ada', ada, method === 'PUT' ? {} : undefined)).status).toBe(403);
  expect((await ask('PUT', '/api/quotas/Ada', TOKEN, { slots: -1 })).status).toBe(400);
  const from = log.length;
  const set = await ask('PUT', '/api/quotas/Ada', TOKEN, { slots: 8, bytes: null });
  expect(set.body).toMatchObject({ limits: { slots: 8, jobs: 2 }, own: { slots: 8, bytes: null } });
  expect(log.slice(from)).toContain('"did":"PUT /api/quotas/:owner","of":"Ada"');
  const wide = (await submit(ada, 8)).body as { id: string };

  // Q3, D26: a lower one refuses what comes, and says on the page of the job that waits why it does.
  await ask('PUT', '/api/quotas/Ada', TOKEN, { slots: 4 });
  const view = (await ask('GET', `/api/jobs/${wide.id}`, ada)).body as JobView;
  expect(view).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('the quota of Ada is 4 slots at once'),
  });

  // What was set stands after a restart, for the dispatcher, too.
  await server.close();
  server = await open();
  const all = (await ask('GET', '/api/quotas', TOKEN)).body as QuotaView[];
  expect(all.map((q) => [q.owner, q.used.jobs, q.limits])).toEqual([
    ['Ada', 1, { slots: 4, jobs: 2, bytes: 100_000 }],
    ['owner', 1, {}],
  ]);
  expect((await ask('GET', `/api/jobs/${wide.id}`, ada)).body.reason).toContain('is 4 slots at once');
  await ask('PUT', '/api/quotas/Ada', TOKEN, { slots: 1 });
  expect((await submit(ada, 2)).body.message).toBe('The job has 2 ranks; the quota of Ada is 1 slot at once.');
  await ask('DELETE', '/api/quotas/Ada', TOKEN);
  expect((await quota(ada)).limits.slots).toBe(3);
});
