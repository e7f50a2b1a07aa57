/** What a visitor may do with the lesson, and what is left of it (lesson.ts L1, L2, L3). */
import { expect, it } from 'vitest';
import { startHeadlessNode } from '@mayfly/node/headless';
import { LESSON_LAPS, LESSON_RANKS, lessonAnswer, type LessonView } from '@mayfly/wire';
import { Lessons } from '../src/lesson.ts';
import { api, freshDir, startServer } from './harness.ts';

it('begins one in two seconds for an address, and twenty in all', async () => {
  const lent = new Set<string>();
  const rooms = { lend: (c: string) => lent.add(c), takeBack: (c: string) => lent.delete(c) };
  const runtime = { view: () => undefined };
  let full = true;
  const lessons = new Lessons({
    runtime: runtime as never,
    rooms: rooms as never,
    logger: {} as never,
    submit: async () => (full ? Promise.reject(new Error('full')) : { id: 'job' as never }),
  });
  await expect(lessons.start('x', 0)).rejects.toThrow('full');
  expect(lent.size).toBe(0);
  full = false;
  await lessons.start('a', 10_000);
  await expect(lessons.start('a', 11_999)).rejects.toMatchObject({ code: 'TOO_MANY' });
  await lessons.start('a', 12_000);
  for (let i = 2; i < 20; i++) await lessons.start(`b${i}`, 12_000);
  await expect(lessons.start('c', 12_000)).rejects.toMatchObject({ code: 'TOO_MANY' });
  expect(lent.size).toBe(20);
  // Their jobs are gone: so are they.
  lessons.round(13_000);
  expect(lent.size).toBe(0);
});

it('is run by whoever has its code, ends with the answer, is bounded, and leaves nothing', async () => {
  const dataDir = await freshDir();
  const server = await startServer({ dataDir });
  const ask = async (method: string, path: string) => {
    const r = await fetch(server.localUrl + path, { method });
    return { status: r.status, body: (await r.json()) as { code: string } & LessonView };
  };
  const begun = await ask('POST', '/api/lesson');
  expect(begun).toMatchObject({ status: 201, body: { code: expect.stringMatching(/^[A-Z2-9]{12}$/) as string } });
  const path = `/api/lesson/${begun.body.code}`;
  expect((await api(server, 'GET', '/api/rooms')).body).toEqual([]);
  const node = await startHeadlessNode({
    server: server.url,
    allowTypeScript: true,
    slots: LESSON_RANKS,
    name: 'visitor',
    room: begun.body.code,
  });
  try {
    for (let i = 0; i < LESSON_LAPS; i++) expect((await ask('POST', `${path}/step`)).status).toBe(200);
    expect(await ask('POST', `${path}/step`)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    await expect.poll(async () => (await ask('GET', path)).body.state, { timeout: 120_000 }).toBe('done');
    expect((await ask('GET', path)).body).toMatchObject({
      output: lessonAnswer().join('\n') + '\n',
      steps: LESSON_LAPS,
      faults: [],
    });
  } finally {
    await node.close(0);
  }
  expect((await ask('DELETE', path)).status).toBe(200);
  expect((await ask('GET', path)).status).toBe(404);
  await expect
    .poll(async () => (await api(server, 'GET', '/api/jobs')).body as unknown, { timeout: 120_000 })
    .toEqual([]);

  // L3: what stands when the server stops is gone when it comes back.
  await expect
    .poll(async () => (await ask('POST', '/api/lesson')).status, { timeout: 120_000, interval: 500 })
    .toBe(201);
  await server.close();
  const again = await startServer({ dataDir });
  await expect
    .poll(async () => (await api(again, 'GET', '/api/jobs')).body as unknown, { timeout: 120_000 })
    .toEqual([]);
});
