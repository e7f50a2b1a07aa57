/** POST /api/jobs with an Idempotency-Key. */
import type { MayflyServer } from '@mayfly/server';
import { expect, it } from 'vitest';
import { api, freshDir, program, startServer, TOKEN } from './harness.ts';

const body = program('export {};', 1);
async function post(server: MayflyServer, key: string, sent: object = body, token = TOKEN) {
  const answer = await fetch(`${server.localUrl}/api/jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(sent),
  });
  return { status: answer.status, body: (await answer.json()) as { id: string; code?: string } };
}

it('K1, K2: the same key and body are one job, also at once and after a restart', async () => {
  const dataDir = await freshDir();
  const first = await startServer({ dataDir });
  const all = await Promise.all([post(first, 'a'), post(first, 'a'), post(first, 'a')]);
  const { id } = all[0].body;
  expect(all.map((a) => [a.status, a.body.id])).toEqual(Array(3).fill([201, id]));
  expect((await post(first, 'b')).body.id).not.toBe(id);
  await first.close();
  const second = await startServer({ dataDir });
  expect((await post(second, 'a')).body.id).toBe(id);
  expect((await api(second, 'GET', '/api/jobs')).body).toHaveLength(2);
});

it('K1: with another body a key is an error; another owner has keys of their own; a deleted job frees its key', async () => {
  const server = await startServer();
  const { id } = (await post(server, 'a')).body;
  const other = await post(server, 'a', program('export {};', 2));
  expect([other.status, other.body.code]).toEqual([422, 'KEY_REUSED']);
  const ada = (await api(server, 'POST', '/api/tokens', { name: 'Ada', role: 'submitter' })).body as { token: string };
  expect((await post(server, 'a', body, ada.token)).body.id).not.toBe(id);
  await api(server, 'POST', `/api/jobs/${id}/cancel`);
  expect((await post(server, 'a')).body.id).toBe(id);
  await api(server, 'DELETE', `/api/jobs/${id}`);
  expect((await post(server, 'a')).body.id).not.toBe(id);
  expect((await post(server, 'not a key')).status).toBe(400);
});

it('K2: what was refused made no job, and the key is free', async () => {
  const server = await startServer();
  expect((await post(server, 'a', program('const n: number = "";', 1))).status).toBe(422);
  expect((await post(server, 'a')).status).toBe(201);
});
