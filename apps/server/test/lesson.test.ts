/** What a visitor may do with the lesson, and what is left of it (lesson.ts L1, L2, L3). */
import { expect, it } from 'vitest';
import { startHeadlessNode } from '@mayfly/node/headless';
import { protocols } from '@mayfly/protocols';
import {
  CONTROL_VERSION,
  IMAGE_FORMAT,
  LESSON_LAPS,
  LESSON_RANKS,
  lessonAnswer,
  type LessonView,
  type NodesTimeline,
  type NodeView,
} from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
import { WebSocket } from 'ws';
import { Lessons } from '../src/lesson.ts';
import { api, door, freshDir, later, startServer, until } from './harness.ts';
import { Volunteer } from './volunteer.ts';

function bench() {
  const lent = new Set<string>();
  let jobs = 0;
  const ended: string[] = [];
  const world = { now: 0, full: false, lent, ended };
  const runtime = {
    view: (job: string) => ({ state: ended.includes(job) ? 'cancelled' : 'running', tasks: [], faults: [] }),
    memories: { of: () => [] },
    world: { outputs: { read: async () => new Uint8Array(0) } },
    dispatcher: { step: (e: { job: string }) => void ended.push(e.job), settled: async () => undefined },
    intake: { appendStdin: async () => undefined, remove: async () => undefined },
  };
  const lessons = new Lessons({
    runtime: runtime as never,
    rooms: { lend: (c: string) => lent.add(c), takeBack: (c: string) => lent.delete(c) } as never,
    logger: {} as never,
    submit: async () => (world.full ? Promise.reject(new Error('full')) : { id: `job${jobs++}` as never }),
    now: () => world.now,
  });
  /** A network begins so many, one in two seconds. */
  const begin = async (network: string, times = 1): Promise<string[]> => {
    const codes: string[] = [];
    for (let i = 0; i < times; i++, world.now += 2000) codes.push(await lessons.start(network));
    return codes;
  };
  return { world, lessons, begin };
}
const tooMany = { code: 'TOO_MANY' };

it('L2: begins one in two seconds and eight at a time for a network, and forgets those that are left', async () => {
  const { world, lessons, begin } = bench();
  world.full = true;
  await expect(lessons.start('x')).rejects.toThrow('full');
  expect(world.lent.size).toBe(0);
  world.full = false;
  await lessons.start('a');
  world.now = 1999;
  await expect(lessons.start('a')).rejects.toMatchObject(tooMany);
  world.now = 2000;
  const [watched] = await begin('a', 7);
  await expect(lessons.start('a')).rejects.toMatchObject(tooMany);
  await begin('b');
  // A page that asks stays, the others go.
  for (; world.now < 200_000; world.now += 60_000) await lessons.view(watched!);
  lessons.round();
  expect([...world.lent]).toEqual([watched]);
  expect(world.ended).toHaveLength(8);
  world.now = 11 * 60_000;
  lessons.round();
  expect(world.lent.size).toBe(0);
});

it('L4: twenty lessons lock nobody out: the network with the most gives one, and who does not go on after a minute', async () => {
  const { world, lessons, begin } = bench();
  const first = await begin('a', 8);
  await begin('b', 7);
  await begin('c', 5);
  expect(world.lent.size).toBe(20);
  await begin('d', 3);
  expect(world.lent.size).toBe(20);
  // Of a, which had the most; and nobody takes from those who have not more.
  expect(first.filter((code) => world.lent.has(code)).length).toBeLessThan(8);

  const networks = bench();
  const codes: string[] = [];
  for (let n = 0; n < 20; n++) codes.push(...(await networks.begin(`n${n}`)));
  await networks.lessons.step(codes[0]!);
  await expect(networks.lessons.start('new')).rejects.toMatchObject(tooMany);
  networks.world.now = 80_000;
  await networks.lessons.step(codes[0]!);
  await networks.lessons.start('new');
  expect(networks.world.lent.has(codes[0]!)).toBe(true);
  expect(networks.world.ended).toHaveLength(1);
  await networks.lessons.start('newer');
  expect(networks.world.ended).toHaveLength(2);
  expect(lessons).toBeDefined();
});

it('gives no entry to a server that has a join code of its own', async () => {
  const server = await startServer({ room: 'letmein' });
  const begin = (body?: object) =>
    server.inject({ method: 'POST', url: '/api/lesson', ...(body && { payload: body }) });
  for (const body of [undefined, {}, { room: 'wrong' }, { room: '' }]) {
    const answer = await begin(body);
    expect([answer.statusCode, (answer.json() as { code: string }).code]).toEqual([401, 'UNAUTHORIZED']);
  }
  expect((await begin({ room: 'letmein' })).statusCode).toBe(201);
  expect((await api(server, 'GET', '/api/jobs')).body).toMatchObject([{ owner: 'a lesson' }]);
});

it('L5: who has its code gets few nodes with few slots, no images, no files, and may send little', async () => {
  const server = await startServer({ limits: { nodes: 3 }, channelMemories: 4 });
  const { code } = (await (await fetch(`${server.localUrl}/api/lesson`, { method: 'POST' })).json()) as {
    code: string;
  };
  const connect = (): Socket => {
    const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, reconnection: false });
    later(async () => void socket.close());
    return socket;
  };
  const hello = (room: string | undefined, slots: number): object => ({
    version: CONTROL_VERSION,
    name: 'n',
    engine: 'e',
    slots,
    ...(room === undefined ? {} : { room }),
    holds: [],
    images: [],
  });
  const flood = door();
  const volunteer = new Volunteer(
    server.localUrl,
    256,
    async (r) => {
      await flood.opened;
      // One send after the other: each waits for nothing but room.
      if (r.task === 0) for (let n = 0; n < 5; n++) await r.send(1, new Uint8Array(1 << 20), n);
    },
    { room: code },
  );
  await until('the lesson runs', () => volunteer.assigned.length === 3);
  expect((await api(server, 'GET', '/api/nodes')).body).toMatchObject([{ slots: 3 }]);
  volunteer.control.emit('slots', { slots: 200 });
  for (let n = 1; n < 9; n++)
    expect(await connect().emitWithAck('hello', hello(code, 0))).toMatchObject({
      node: expect.any(String) as string,
    });
  expect(await connect().emitWithAck('hello', hello(code, 0))).toMatchObject({ error: { code: 'TOO_MANY' } });
  // They take no places of other nodes, of which this server has three, and the refused one above has one.
  expect(await connect().emitWithAck('hello', hello(undefined, 1))).toMatchObject({
    node: expect.any(String) as string,
  });
  const nodes = (await api(server, 'GET', '/api/nodes')).body as { slots: number }[];
  expect(nodes.map((n) => n.slots).sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 3]);

  const a = volunteer.assigned[0]!;
  expect(a.channelMemories).toHaveLength(1);
  const { job, task, incarnation, capability } = a;
  const image = new WebSocket(`${server.localUrl.replace('http', 'ws')}/data/image?cap=${capability}`);
  later(async () => image.terminate());
  await new Promise((resolve) => image.once('open', resolve));
  const refusal = new Promise<string>((resolve) => image.once('message', (d: Buffer) => resolve(d.toString())));
  const manifest = {
    format: IMAGE_FORMAT,
    image: `${job}-${task}-${incarnation}-1`,
    job,
    task,
    incarnation,
    program: 'a'.repeat(64),
    serial: 1,
    position: protocols.pessimistic.recovery.start,
    sections: [{ name: 'data', bytes: 10 }],
    pages: ['b'.repeat(64)],
    bytes: 10,
  };
  image.send(JSON.stringify({ type: 'offer', capability, manifest }));
  expect(JSON.parse(await refusal)).toMatchObject({
    type: 'refused',
    error: { code: 'FORBIDDEN', message: 'This job has no checkpoint images.' },
  });
  // More than it may send ends its job.
  flood.open();
  await until(
    'the lesson ends',
    async () => ((await api(server, 'GET', `/api/jobs/${job}`)).body as { state: string }).state === 'failed',
  );
  expect((await api(server, 'GET', `/api/jobs/${job}`)).body).toMatchObject({ error: { code: 'LOG_LIMIT' } });
  // With the lesson its nodes go.
  const gone = new Promise((resolve) => volunteer.control.once('disconnect', resolve));
  await fetch(`${server.localUrl}/api/lesson/${code}`, { method: 'DELETE' });
  await gone;
  volunteer.kill();

  // Two seconds after the first.
  let next = '';
  await until('another lesson begins', async () => {
    const answer = await fetch(`${server.localUrl}/api/lesson`, { method: 'POST' });
    if (answer.status === 201) next = ((await answer.json()) as { code: string }).code;
    return answer.status === 201;
  });
  new Volunteer(server.localUrl, 3, async (r) => r.file('x', 0, new Uint8Array(1)), { room: next });
  await until(
    'the lesson ends that writes a file',
    async () =>
      ((await (await fetch(`${server.localUrl}/api/lesson/${next}`)).json()) as LessonView).error ===
      'This job has no files and no further ranks.',
  );
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
    await expect.poll(async () => (await ask('GET', path)).body.state).toBe('done');
    expect((await ask('GET', path)).body).toMatchObject({
      output: lessonAnswer().join('\n') + '\n',
      steps: LESSON_LAPS,
      faults: [],
      // Lines and the end of standard input are in the log of rank 0.
      ranks: [2 * LESSON_LAPS + 1, LESSON_LAPS, LESSON_LAPS].map((logged) => ({ logged, read: logged })),
    });
    // Its node has a picture of its own, and is no part of the pool's.
    const [{ id }] = (await api(server, 'GET', '/api/nodes')).body as [NodeView];
    const drawn = async (of: string) =>
      ((await api(server, 'GET', `/api/nodes${of}/timeline`)).body as NodesTimeline).nodes;
    await expect.poll(() => drawn(`/${id}`)).toEqual([id]);
    expect(await drawn('')).toEqual([]);
  } finally {
    await node.close(0);
  }
  expect((await ask('DELETE', path)).status).toBe(200);
  expect((await ask('GET', path)).status).toBe(404);
  await expect.poll(async () => (await api(server, 'GET', '/api/jobs')).body as unknown).toEqual([]);

  // L3: what stands when the server stops is gone when it comes back.
  await expect.poll(async () => (await ask('POST', '/api/lesson')).status, { interval: 500 }).toBe(201);
  await server.close();
  const again = await startServer({ dataDir });
  await expect.poll(async () => (await api(again, 'GET', '/api/jobs')).body as unknown).toEqual([]);
});
