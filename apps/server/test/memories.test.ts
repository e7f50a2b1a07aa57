/**
 * Channel Memories at a server that stands by, over a real PostgreSQL: messages pass both servers, and the answer is
 * right whichever of them is lost.
 */
import { needPrograms } from '@mayfly/storage/test-postgres';
import {
  jobId,
  type DashboardEvents,
  type DashboardRequests,
  type JobView,
  type RoomView,
  type ServerView,
  type WavesView,
} from '@mayfly/wire';
import { connect, createServer, type AddressInfo } from 'node:net';
import { io, type Socket } from 'socket.io-client';
import { expect, it } from 'vitest';
import { TOKEN, later, until } from './harness.ts';
import type { ServerProcess } from './server-process.ts';
import { RANKS, TwoServers } from './two-servers.ts';

/** A balancer with a way of its own for data links. @returns its address */
async function balancer(to: { control: ServerProcess; data: ServerProcess }): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      const { port } = first.toString('latin1').startsWith('GET /data/cm/') ? to.data : to.control;
      const upstream = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy());
      upstream.write(first);
      socket.pipe(upstream).pipe(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(() => new Promise((closed) => server.close(closed)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const programs = needPrograms();

it.skipIf(programs === undefined)(
  'of a job are at both servers; one is killed, one stands still, and jobs end with their answer',
  async () => {
    const two = await TwoServers.start(programs!);
    const [served, second] = await two.both();
    let first = served;
    const { ask, asked, begin, inRound, memories, node, rest, servers, submit, type } = two;
    const to = { control: first, data: second };
    // A room whose messages pass the first server, although it has the dispatcher.
    const opened = await ask('POST', '/api/rooms', { name: 'Physics', server: `127.0.0.1:${first.port}` });
    expect(opened.status, JSON.stringify(opened.body)).toBe(201);
    const { code: room } = opened.body as RoomView;
    expect((await ask('POST', '/api/rooms', { name: 'Nowhere', server: 'not an address' })).status).toBe(400);
    await node('in the room', first.url, RANKS, room);
    const pinned = await submit({ room });
    await inRound(pinned, 1);
    expect(await memories()).toEqual([2, 0]);
    await rest(pinned, 1);
    await until('nothing is sent', async () => (await servers()).every((s) => s.messagesPerSecond === 0));
    await node('balanced', await balancer(to), 4);
    await node('at the second', second.url, 8);
    const job = await submit();
    await inRound(job, 1);
    expect(await memories()).toEqual([1, 1]);
    await until('what passes the other server is counted', async () =>
      (await asked<JobView>(job))!.tasks.every((t) => t.messagesOut > 100),
    );
    // Of 2 × 2 links two do not pass the owner: those to the Channel Memory of the second server.
    expect((await asked<ServerView>('/api/server'))!.dataLinks).toBe(2);
    // The owner goes; the other one serves from then on.
    await first.kill();
    two.reached = to.control = second;
    await until('the second serves', () => second.output().includes('serves on'));
    await type(job);
    await inRound(job, 2);
    // A server comes, has a part of what begins then, and stands still. Links to it do not close by themselves.
    first = await begin(first.port);
    await until('the first has seats', () => second.output().includes('has seats for'));
    to.data = first;
    const next = await submit();
    await inRound(next, 1);
    expect(await memories()).toEqual([2, 2]);
    to.data = second;
    first.signal('SIGSTOP');
    await type(next);
    await inRound(next, 2);
    expect((await memories())[0]).toBe(4);
    expect(second.output()).toContain('Channel Memory recovers here');
    first.signal('SIGCONT');
    await rest(job, 2);
    await rest(next, 2);
  },
);

it.skipIf(programs === undefined).each(['vcl', 'pcl'] as const)(
  'of a job under %s are at both servers; a node and the other server are killed, and the answer is right',
  async (protocol) => {
    const two = await TwoServers.start(programs!);
    const [first, second] = await two.both();
    const { asked, inRound, memories, node, rest, submit, type } = two;
    const lost = await node('at the first', first.url, 2);
    await node('at the second', second.url, 4);
    await node('another', first.url, 4);
    // Under one of them only output that waits asks for waves.
    const job = await submit({ options: { protocol, checkpointMs: protocol === 'vcl' ? 300 : 600_000 } });
    const early = new Set<number>();
    const viewer: Socket<DashboardEvents, DashboardRequests> = io(`${first.url}/dashboard`, { auth: { token: TOKEN } });
    later(async () => void viewer.disconnect());
    viewer.on('provisional', ({ streams }) => streams.forEach((s) => early.add(s.task)));
    expect(await viewer.emitWithAck('watch', { job: jobId(job.slice(-12)), provisional: true })).toEqual({ ok: true });
    const waves = async (): Promise<WavesView> => (await asked<JobView>(job))!.waves!;
    // What ranks print is final when a wave has it: one that all Channel Memories have heard of.
    await inRound(job, 1);
    expect(await memories()).toEqual([1, 1]);
    expect((await waves()).committed).toBeGreaterThan(0);
    if (protocol === 'pcl') expect([...early].sort()).toEqual([0, 1, 2, 3]);
    lost.kill();
    await until('all have gone back', async () => (await waves()).rollbacks === 1);
    await type(job);
    await inRound(job, 2);
    // The Channel Memory begins again where it was.
    expect(await memories()).toEqual([1, 1]);
    await second.kill();
    await type(job);
    await inRound(job, 3);
    expect((await memories())[0]).toBe(2);
    expect((await waves()).rollbacks).toBe(2);
    await rest(job, 3);
  },
);

it.skipIf(programs === undefined)(
  'of a job that a lost server ends, or that waits for its log there, are elsewhere only where its room asks for it',
  async () => {
    const two = await TwoServers.start(programs!);
    const [first, second] = await two.both();
    const { ask, asked, inRound, memories, node, rest, submit } = two;
    const opened = await ask('POST', '/api/rooms', { name: 'Physics', server: `127.0.0.1:${second.port}` });
    const { code: room } = opened.body as RoomView;
    await node('in the room', first.url, 12, room);
    await node('outside', first.url, 4);
    const here = await submit({ options: { team: 1, durability: 'behind' } });
    await inRound(here, 1);
    expect(await memories()).toEqual([2, 0]);
    const none = await submit({ room, options: { team: 1, protocol: 'none' } });
    const behind = await submit({ room, options: { team: 1, durability: 'behind' } });
    const clusters = await submit({ room, options: { protocol: 'hc3i', clusters: 2 } });
    await Promise.all([none, behind, clusters].map((job) => inRound(job, 1)));
    // Those of clusters hear of each other in one step.
    expect(await memories()).toEqual([4, 4]);
    await second.kill();
    await until('the job under none has ended', async () => (await asked<JobView>(none))?.endedAt !== undefined);
    expect(await asked<JobView>(none)).toMatchObject({ state: 'failed', error: { code: 'SERVER_RESTARTED' } });
    for (const job of [here, behind, clusters]) await rest(job, 1);
  },
);
