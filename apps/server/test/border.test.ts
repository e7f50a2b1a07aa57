/** What comes from nodes is untrusted: each bad input ends its own connection with a clear error, and nothing else. */
import {
  Kind,
  WorldMode,
  CONTROL_VERSION,
  emptyHeader,
  encodeFrame,
  patched,
  readFrames,
  taskId,
  type ErrorBody,
  type Incarnation,
  type Patch,
} from '@mayfly/wire';
import { isDeepStrictEqual } from 'node:util';
import type { MayflyServer } from '@mayfly/server';
import { protocols } from '@mayfly/protocols';
import { Socket as PollingSocket } from 'engine.io-client';
import { patient as onThisMachine } from '@mayfly/testing';
import { io } from 'socket.io-client';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { api, program, sharedServer, startServer, until } from './harness.ts';
import { Volunteer, type TestProgram } from './volunteer.ts';

const times = { graceMs: 300, tickMs: 50, silentMs: 60_000, heartbeatMs: 200 };
const text = new TextEncoder();

interface Outcome {
  code: number;
  reason: string;
  refused: ErrorBody[];
}

/** Opens a data socket, sends the messages, and tells how it ended. */
function talk(
  server: MayflyServer,
  path: string,
  messages: (Uint8Array | string)[],
  ms = onThisMachine(120_000),
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(server.localUrl.replace('http', 'ws') + path);
    const refused: ErrorBody[] = [];
    const timer = setTimeout(() => {
      ws.terminate();
      reject(new Error(`the server kept the connection to ${path}`));
    }, ms);
    ws.on('open', () => messages.forEach((m) => ws.send(m)));
    ws.on('message', (data: Buffer, binary: boolean) => {
      if (!binary) refused.push((JSON.parse(data.toString()) as { error: ErrorBody }).error);
      else
        for (const f of readFrames(data))
          if (f.header.kind === Kind.REFUSED) refused.push(JSON.parse(Buffer.from(f.body).toString()) as ErrorBody);
    });
    ws.on('error', () => undefined);
    ws.on('close', (code, reason) => {
      clearTimeout(timer);
      resolve({ code, reason: reason.toString(), refused });
    });
  });
}

/** The first refusal, whether or not the server closes. */
function listen(server: MayflyServer, messages: Uint8Array[]): Promise<ErrorBody[]> {
  return new Promise((resolve) => {
    const ws = new WebSocket(server.localUrl.replace('http', 'ws') + '/data/cm/0');
    const refused: ErrorBody[] = [];
    ws.on('open', () => messages.forEach((m) => ws.send(m)));
    ws.on('message', (d: Buffer) => {
      for (const f of readFrames(d))
        if (f.header.kind === Kind.REFUSED) refused.push(JSON.parse(Buffer.from(f.body).toString()) as ErrorBody);
      if (refused.length === 0) return;
      ws.terminate();
      resolve(refused);
    });
    ws.on('error', () => undefined);
    ws.on('close', () => resolve(refused));
  });
}

const attach = (capability: string, task = 0, incarnation = 0): Uint8Array =>
  encodeFrame(
    { ...emptyHeader(Kind.ATTACH), src: taskId(task), incarnation: incarnation as Incarnation },
    text.encode(
      JSON.stringify({
        capability,
        nonce: 'nonce-1234',
        position: protocols.pessimistic.recovery.start,
        received: 0,
        resume: false,
      }),
    ),
  );
const data = (header: object, body = new Uint8Array(0)): Uint8Array =>
  encodeFrame({ ...emptyHeader(Kind.DATA), flags: 1, channel: 1, dst: taskId(1), size: body.length, ...header }, body);

/** A patient job: two ranks that wait for standard input. It must outlive every attack. */
const patient: TestProgram = async (r) => {
  if (r.task === 0) {
    const m = await r.recv(true);
    await r.send(1, m.text);
  } else r.print((await r.recv()).text);
  r.exit(0);
};

async function victim(
  server: MayflyServer,
): Promise<{ id: string; volunteer: Volunteer; survives: () => Promise<void> }> {
  const volunteer = new Volunteer(server.localUrl, 2, patient);
  const { id } = (
    await api(
      server,
      'POST',
      '/api/jobs',
      program('export {};', 2, { options: { interactive: true, graceMs: 60_000 } }),
    )
  ).body as { id: string };
  await until('runs', async () =>
    (await api(server, 'GET', `/api/jobs/${id}`)).body.tasks.every((t: { state: string }) => t.state === 'running'),
  );
  return {
    id,
    volunteer,
    survives: async () => {
      await api(server, 'POST', `/api/jobs/${id}/stdin?end=1`, text.encode('still here'));
      await until(
        'the job is done',
        async () => (await api(server, 'GET', `/api/jobs/${id}`)).body.state === 'done',
      ).catch(async (e: Error) => {
        throw new Error(
          `${e.message}: ${JSON.stringify((await api(server, 'GET', `/api/jobs/${id}`)).body)}, refused ` +
            `${JSON.stringify(volunteer.refused)}`,
        );
      });
      expect((await api(server, 'GET', `/api/jobs/${id}/tasks/1/stdout`)).body).toBe('still here\n');
      expect((await api(server, 'GET', `/api/jobs/${id}`)).body).toMatchObject({ faults: [] });
    },
  };
}

describe('the data plane at its border', () => {
  it('refuses garbage, wrong versions, wrong first frames and capabilities, and a running job notices nothing', async () => {
    const server = await sharedServer({ dispatcher: times });
    const { id, survives } = await victim(server);
    const wrongVersion = attach('x');
    wrongVersion[1] = 9;
    for (const message of [
      new Uint8Array(10),
      new Uint8Array(200),
      new Uint8Array(100).fill(255),
      wrongVersion,
      data({}),
    ])
      expect(await talk(server, '/data/cm/0', [message])).toMatchObject({
        code: 4400,
        reason: expect.stringContaining('BAD_FRAME') as string,
      });
    expect(await talk(server, '/data/cm/0', ['text'])).toMatchObject({ code: 4400 });
    for (const capability of ['', 'x', `${id}.0.0.${'0'.repeat(64)}`, `${id}.0.99.${'a'.repeat(64)}`])
      expect(await talk(server, '/data/cm/0', [attach(capability)])).toMatchObject({
        code: 4403,
        refused: [{ code: 'FORBIDDEN' }],
      });
    // Far above what anybody may send before it has presented itself: refused by its head, or cut off.
    expect([1006, 1009]).toContain((await talk(server, '/data/cm/0', [new Uint8Array(9 * 1024 * 1024)])).code);
    await survives();
  });

  it('refuses a clone, an older incarnation, foreign tasks and skipped numbers', async () => {
    const server = await sharedServer({ dispatcher: times });
    const { volunteer, survives } = await victim(server);
    const capability = volunteer.assigned.find((a) => a.task === 0)!.capability;
    const talkFor = (messages: Uint8Array[]): Promise<Outcome> => talk(server, '/data/cm/0', messages);
    // The same incarnation with another nonce is a clone: refused, whether or not its socket is closed.
    const clone = await listen(server, [attach(capability)]);
    expect(clone.map((r) => r.code)).toContain('CLONE');
    expect(await talkFor([attach(capability, 1)])).toMatchObject({ code: 4403 });
    expect(await talkFor([attach(capability, 0, 7)])).toMatchObject({ code: 4403 });
    // What a refused one says after that, in its own name or another's, reaches nobody.
    await listen(server, [
      attach(capability),
      data({ src: taskId(0) }, text.encode('forged')),
      data({ src: taskId(1), dst: taskId(0) }, text.encode('forged')),
    ]);
    await survives();
  });

  it('ends only the job of a task that writes nonsense to the world', async () => {
    // What it says is to end the job as soon as the limit of crashes is reached, without waiting for a node with a
    // record.
    const server = await startServer({ dispatcher: { ...times, trustNewcomers: true } });
    const { survives, volunteer } = await victim(server);
    volunteer.control.emit('slots', { slots: 2 });
    let paths = ['../../escape', '/etc/passwd', 'a/../b', '.hidden', 'x\u0000y', ''];
    new Volunteer(server.localUrl, 1, async (r) => {
      const kind = r.args[0]!;
      if (kind === 'mode') r.world(77, text.encode('?'));
      else if (kind === 'exit') r.world(WorldMode.EXIT, text.encode('{"code":"no"'));
      else if (kind === 'short') r.world(WorldMode.FILE, new Uint8Array([255, 255, 1]));
      else if (kind === 'sparse') r.file('big', 2 ** 52, new Uint8Array(1));
      else r.file(paths[Number(kind)]!, 0, new Uint8Array([1]));
      await r.recv();
    });
    const run = async (arg: string): Promise<{ state: string; error: ErrorBody }> => {
      const { id } = (await api(server, 'POST', '/api/jobs', program('export {};', 1, { args: [arg] }))).body as {
        id: string;
      };
      await until(`${arg} ends`, async () => (await api(server, 'GET', `/api/jobs/${id}`)).body.state === 'failed');
      return (await api(server, 'GET', `/api/jobs/${id}`)).body as { state: string; error: ErrorBody };
    };
    for (let i = 0; i < paths.length; i++)
      expect((await run(String(i))).error).toMatchObject({
        code: 'PROGRAM_ERROR',
        message: expect.stringContaining('not allowed') as string,
      });
    paths = [];
    // not logged: it costs the incarnation, and another one that says the same, until the rank has said it too often
    expect((await run('mode')).error).toMatchObject({
      code: 'KEEPS_CRASHING',
      message: expect.stringContaining('BAD_FRAME: message 1 of task 0 to the world cannot be read') as string,
    });
    expect((await run('short')).error.code).toBe('PROGRAM_ERROR');
    expect((await run('exit')).error.code).toBe('PROGRAM_ERROR');
    expect((await run('sparse')).error.code).toBe('OUTPUT_LIMIT');
    await survives();
  });

  it('answers an image socket that makes no sense, and upgrades to nowhere', async () => {
    const server = await sharedServer({ dispatcher: times });
    const { survives, volunteer } = await victim(server);
    const image = `/data/image?cap=${volunteer.assigned[0]!.capability}`;
    expect((await talk(server, image, ['{'])).code).toBe(4400);
    expect((await talk(server, image, [new Uint8Array(32)])).code).toBe(4400);
    expect((await talk(server, '/data/image', ['{'])).code).toBe(1006);
    expect((await talk(server, '/data/nothing', [])).code).toBe(1006);
    expect((await talk(server, '/data/cm/99', [attach('x')])).code).not.toBe(1000);
    await survives();
  });

  it('speaks the same frames over long polling', async () => {
    const server = await startServer();
    const socket = new PollingSocket(server.localUrl, {
      path: '/data/poll/0/',
      transports: ['polling'],
      upgrade: false,
    });
    socket.binaryType = 'arraybuffer';
    const answer = await new Promise<Uint8Array>((resolve, reject) => {
      socket.on('open', () => socket.send(attach('x').slice().buffer as ArrayBuffer));
      socket.on('message', (m: unknown) => resolve(new Uint8Array(m as ArrayBuffer)));
      socket.on('error', reject);
    });
    const [frame] = readFrames(new Uint8Array(answer));
    expect(JSON.parse(Buffer.from(frame!.body).toString())).toMatchObject({ code: 'FORBIDDEN' });
    socket.close();
    // A sandboxed frame's origin is null.
    const cors = await fetch(`${server.localUrl}/data/poll/0/?EIO=4&transport=polling`, {
      headers: { origin: 'null' },
    });
    expect(cors.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('the control plane at its border', () => {
  const hello = (server: MayflyServer, message: object): Promise<object> =>
    new Promise((resolve, reject) => {
      const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, reconnection: false });
      const timer = setTimeout(() => reject(new Error('no answer')), onThisMachine(120_000));
      socket.on('connect', () =>
        socket.emit('hello', message, (answer: object) => {
          clearTimeout(timer);
          socket.disconnect();
          resolve(answer);
        }),
      );
    });
  const good = { version: CONTROL_VERSION, name: 'n', engine: 'e', slots: 1, holds: [], images: [] };

  it('welcomes, knows a node again by its secret only, and refuses other versions and nonsense', async () => {
    const server = await startServer();
    const first = (await hello(server, good)) as { node: string; secret: string };
    expect(first.node).toMatch(/^[0-9a-z]{8,32}$/);
    await until('the server has seen it go', async () =>
      (await api(server, 'GET', '/api/nodes')).body.every((n: { state: string }) => n.state !== 'here'),
    );
    expect(await hello(server, { ...good, node: first.node, secret: first.secret })).toMatchObject({
      node: first.node,
      secret: first.secret,
    });
    const thief = (await hello(server, { ...good, node: first.node, secret: 'guess' })) as { node: string };
    expect(thief.node).not.toBe(first.node);
    expect(await hello(server, { ...good, version: 99 })).toMatchObject({ error: { code: 'VERSION_MISMATCH' } });
    expect(await hello(server, { name: 'x' })).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    expect(await hello(server, { ...good, slots: 100_000 })).toMatchObject({ error: { code: 'BAD_REQUEST' } });
  });

  it('asks for the join code of the room', async () => {
    const server = await startServer({ room: 'cs101' });
    expect(await hello(server, good)).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
    expect(await hello(server, { ...good, room: 'cs102' })).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
    expect(await hello(server, { ...good, room: 'cs101' })).toMatchObject({ node: expect.any(String) as string });
    expect((await server.inject({ url: '/api/info' })).json()).toMatchObject({ roomNeeded: true });
  });

  it('disconnects a socket that sends malformed messages; the others stay', async () => {
    const server = await sharedServer({ dispatcher: times });
    const { survives } = await victim(server);
    const socket = io(`${server.localUrl}/node`, { transports: ['websocket'], forceNew: true, reconnection: false });
    const gone = new Promise<string>((resolve) => socket.on('disconnect', resolve));
    socket.on('connect', () => socket.emit('heartbeat', { tasks: 'many' }));
    expect(await gone).toBe('io server disconnect');
    await survives();
  });
});

describe('the dashboard', () => {
  it('needs the token, and streams lists, the job and its output from an offset', async () => {
    const server = await sharedServer({ dispatcher: times });
    const connect = (token?: string): Promise<ReturnType<typeof io>> =>
      new Promise((resolve, reject) => {
        const socket = io(`${server.localUrl}/dashboard`, {
          transports: ['websocket'],
          forceNew: true,
          reconnection: false,
          auth: token === undefined ? {} : { token },
        });
        socket.on('connect', () => resolve(socket));
        socket.on('connect_error', (e) => reject(e));
      });
    await expect(connect()).rejects.toMatchObject({ data: { code: 'UNAUTHORIZED' } });
    await expect(connect('wrong-token')).rejects.toMatchObject({ data: { code: 'UNAUTHORIZED' } });

    const { id } = (await api(server, 'POST', '/api/jobs', program('export {};', 1))).body as { id: string };
    const socket = await connect('test-token-1234');
    // Another one takes changes only, and has the same in the end.
    const second = await connect('test-token-1234');
    let [mine, whole, patches] = [undefined as unknown, 0, 0];
    second.on('job', (j: unknown) => {
      mine = j;
      whole++;
    });
    second.on('change', (c: { job: string; patch: Patch }) => {
      expect(c.job).toBe(id);
      mine = patched(mine, c.patch);
      patches++;
    });
    expect(await second.emitWithAck('watch', { job: id, deltas: true })).toEqual({ ok: true });
    const states: string[] = [];
    const lists: number[] = [];
    let jobs = 0;
    const shown = Buffer.alloc(2000);
    let next = 5;
    socket.on('jobs', (list: { id: string }[]) => lists.push(list.length));
    socket.on('job', (j: { state: string }) => {
      jobs++;
      if (states.at(-1) !== j.state) states.push(j.state);
    });
    socket.on('output', (o: { task: number; stream: string; offset: number; bytes: Buffer }) => {
      expect([o.task, o.stream, o.offset]).toEqual([0, 'stdout', next]); // no gap, no overlap
      shown.set(o.bytes, o.offset);
      next += o.bytes.length;
    });
    expect(await socket.emitWithAck('watch', { job: 'nosuchjob123' })).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(await socket.emitWithAck('watch', { job: 5 })).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    expect(await socket.emitWithAck('watch', { job: id, from: { '0:stdout': 5 } })).toEqual({ ok: true });
    lists.length = 0; // one that was on its way when it began to watch
    const began = Date.now();
    new Volunteer(server.localUrl, 1, async (r) => {
      for (let i = 0; i < 100; i++) {
        r.print(`line ${String(i).padStart(4, '0')}`);
        // Piece by piece: those who watch hear of it in several lists.
        // eslint-disable-next-line no-restricted-syntax
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      r.exit(0);
    });
    await until('done', () => states.at(-1) === 'done');
    await until('all output', () => next === 1000);
    await until('what was changed piece by piece is the job', async () =>
      isDeepStrictEqual(mine, (await api(server, 'GET', `/api/jobs/${id}`)).body),
    );
    expect([whole, patches > 0]).toEqual([1, true]);
    second.close();
    expect(shown.subarray(5, 1000).toString()).toBe(
      Array.from({ length: 100 }, (_, i) => `line ${String(i).padStart(4, '0')}\n`)
        .join('')
        .slice(5),
    );
    expect(states.at(-1)).toBe('done');
    expect(jobs).toBeLessThanOrEqual(Math.ceil((Date.now() - began) / 200) + 3);
    expect(lists).toEqual([]); // who watches a job draws no list
    expect(await socket.emitWithAck('watch', {})).toEqual({ ok: true });
    await until('the list', () => lists.length > 0);
    socket.disconnect();
  });
});
