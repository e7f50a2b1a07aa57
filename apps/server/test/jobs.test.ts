/** Jobs over real sockets: the volunteer of test/volunteer.ts runs the real comm core and endpoint. */
import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { unpackTar } from 'modern-tar';
import { REPORT_VERSION, WorldMode, type ComparisonView, type JobReport, type JobView } from '@mayfly/wire';
import { createServer, type MayflyServer } from '@mayfly/server';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import { api, door, freshDir, program, sharedServer, startServer, TOKEN, until } from './harness.ts';
import { Volunteer, type TestProgram } from './volunteer.ts';

const DUMMY = 'export {};';
// A closed socket means loss soon; silence, and a slow return after a restart, which a busy machine produces by itself,
// do not.
const times = { graceMs: 300, tickMs: 50, silentMs: 60_000, restartGraceMs: 60_000, heartbeatMs: 200 };

export async function submit(server: MayflyServer, size: number, more: object = {}): Promise<string> {
  const r = await api(server, 'POST', '/api/jobs', program(DUMMY, size, more));
  expect(r.status, JSON.stringify(r.body)).toBe(201);
  return (r.body as { id: string }).id;
}
const job = async (server: MayflyServer, id: string): Promise<JobView> =>
  (await api(server, 'GET', `/api/jobs/${id}`)).body as JobView;
const ended = async (server: MayflyServer, id: string): Promise<JobView> => {
  let view: JobView | undefined;
  await until(
    () => `the job ends: ${JSON.stringify(view)}`,
    async () => ['done', 'failed', 'cancelled'].includes((view = await job(server, id)).state),
  );
  return view!;
};
const out = async (server: MayflyServer, id: string, task: number, stream = 'stdout'): Promise<string> =>
  String((await api(server, 'GET', `/api/jobs/${id}/tasks/${task}/${stream}`)).body ?? '');

/**
 * A token goes round; every rank adds its number. Rank 0 goes no further than lap `holdAt` before the test opens the
 * door: faults hit the middle.
 */
const ring =
  (laps: number, holdAt = laps, opened: Promise<void> = Promise.resolve()): TestProgram =>
  async (r) => {
    const next = (r.task + 1) % r.size;
    let value = 0;
    for (let lap = 0; lap < laps; lap++) {
      if (lap === holdAt && r.task === 0) await opened;
      if (r.task === 0) await r.send(next, String(value));
      value = Number((await r.recv()).text) + r.task;
      if (r.task !== 0) await r.send(next, String(value));
      if (lap % 10 === 0) r.print(`lap ${lap} value ${value}`);
    }
    r.print(`end ${value}`);
    r.exit(0);
  };

const expectedRing = (task: number, size: number, laps: number): string => {
  const lines: string[] = [];
  let token = 0;
  let mine = 0;
  for (let lap = 0; lap < laps; lap++) {
    for (let t = 1; t <= task || (task === 0 && t < size); t++) token += t % size;
    mine = token;
    if (task !== 0) for (let t = task + 1; t < size; t++) token += t;
    if (lap % 10 === 0) lines.push(`lap ${lap} value ${mine}`);
  }
  return [...lines, `end ${mine}`, ''].join('\n');
};

describe('a job over real sockets', () => {
  it('runs a ring over two volunteers, and each line appears once', async () => {
    const server = await sharedServer({ dispatcher: times });
    const a = new Volunteer(server.localUrl, 2, ring(30));
    const b = new Volunteer(server.localUrl, 2, ring(30));
    await until('welcomed', () => a.welcome !== undefined && b.welcome !== undefined);
    const id = await submit(server, 4);
    const view = await ended(server, id);
    expect(view).toMatchObject({ state: 'done', exitCode: 0, faults: [] });
    for (let t = 0; t < 4; t++) expect(await out(server, id, t)).toBe(expectedRing(t, 4, 30));
    // A message of the counts goes from rank to rank: the lines that each has printed are none.
    expect(view.tasks.map((t) => [t.messagesIn, t.messagesOut, t.state])).toEqual(
      view.tasks.map(() => [30, 30, 'done']),
    );
    expect(view.outputBytes).toBeGreaterThan(0);
  });

  it('restarts lost ranks elsewhere: same answer, only they have new incarnations', async () => {
    const server = await sharedServer({ dispatcher: times });
    const faults = door();
    const a = new Volunteer(server.localUrl, 2, ring(60, 45, faults.opened));
    const b = new Volunteer(server.localUrl, 2, ring(60, 45, faults.opened));
    await until('welcomed', () => a.welcome !== undefined && b.welcome !== undefined);
    const id = await submit(server, 4);
    await until('in the middle', async () => (await out(server, id, 0)).includes('lap 20'));
    const lost = a.assigned.map((x) => x.task);
    a.kill();
    new Volunteer(server.localUrl, 2, ring(60, 45, faults.opened));
    await until('lost', async () => (await job(server, id)).faults.length === lost.length);
    faults.open();
    const view = await ended(server, id);
    expect(view.state).toBe('done');
    for (let t = 0; t < 4; t++) expect(await out(server, id, t)).toBe(expectedRing(t, 4, 60));
    expect(view.tasks.filter((t) => t.incarnation > 0).map((t) => t.task)).toEqual(lost.sort());
    expect(view.faults.map((f) => f.cause)).toEqual(lost.map(() => 'disconnected'));
    expect(view.faults.every((f) => f.recoveredAfterMs !== undefined)).toBe(true);
  });

  it('goes on after torn data sockets, without a new incarnation', async () => {
    const server = await sharedServer({ dispatcher: times });
    const faults = door();
    const a = new Volunteer(server.localUrl, 3, ring(60, 45, faults.opened));
    const id = await submit(server, 3);
    for (const lap of [10, 30]) {
      await until(`lap ${lap}`, async () => (await out(server, id, 0)).includes(`lap ${lap}`));
      a.breakData();
    }
    faults.open();
    const view = await ended(server, id);
    expect(view).toMatchObject({ state: 'done', faults: [] });
    for (let t = 0; t < 3; t++) expect(await out(server, id, t)).toBe(expectedRing(t, 3, 60));
  });

  it.each([
    // Without ticks: the loss is noticed when the grace is over, not when somebody looks.
    [
      'two Channel Memories, between two ticks',
      { channelMemories: 2, dispatcher: { ...times, tickMs: 3_600_000 } },
      {},
    ],
    ['strict durability', {}, { options: { durability: 'strict' } }],
    ['two Channel Memories and strict durability', { channelMemories: 2 }, { options: { durability: 'strict' } }],
  ])('survives a lost node with %s', async (_what, serverOptions, jobOptions) => {
    const server = await startServer({ dispatcher: times, ...serverOptions });
    const faults = door();
    const a = new Volunteer(server.localUrl, 2, ring(60, 45, faults.opened));
    const b = new Volunteer(server.localUrl, 1, ring(60, 45, faults.opened));
    await until('welcomed', () => a.welcome !== undefined && b.welcome !== undefined);
    const id = await submit(server, 3, jobOptions);
    await until('in the middle', async () => (await out(server, id, 0)).includes('lap 20'));
    const lost = a.assigned.length;
    a.kill();
    new Volunteer(server.localUrl, 2, ring(60, 45, faults.opened));
    await until('lost', async () => (await job(server, id)).faults.length === lost);
    faults.open();
    expect((await ended(server, id)).state).toBe('done');
    for (let t = 0; t < 3; t++) expect(await out(server, id, t)).toBe(expectedRing(t, 3, 60));
  });

  it('a graceful restart of the server loses nothing, and nodes keep their ranks', async () => {
    const dataDir = await freshDir();
    const first = await createServer({
      dataDir,
      port: 0,
      token: TOKEN,
      log: 'silent',
      dispatcher: times,
      ...sharedCompiler(),
    });
    const restarted = door();
    new Volunteer(first.localUrl, 3, ring(80, 45, restarted.opened));
    const id = await submit(first, 3);
    await until('in the middle', async () => (await out(first, id, 0)).includes('lap 20'));
    await first.close();
    const second = await startServer({ dataDir, port: first.port, dispatcher: times });
    restarted.open();
    const view = await ended(second, id);
    expect(view).toMatchObject({ state: 'done', faults: [] });
    for (let t = 0; t < 3; t++) expect(await out(second, id, t)).toBe(expectedRing(t, 3, 80));
  });

  it('large messages, result files at offsets, stderr, exit codes', async () => {
    const server = await sharedServer({ dispatcher: times });
    const big = new Uint8Array(1_000_001).map((_, i) => i * 7);
    let last = 6;
    new Volunteer(server.localUrl, 2, async (r) => {
      if (r.task === 0) await r.send(1, big, 9);
      else {
        const m = await r.recv();
        r.print(`${m.tag} ${m.body.length} ${Buffer.from(m.body).equals(Buffer.from(big))}`);
        r.file('pictures/a.bin', 4, new Uint8Array([5, last]));
        r.file('pictures/a.bin', 0, new Uint8Array([1, 2, 3, 4]));
        r.stderr('careful');
      }
      r.exit(r.task === 1 ? 3 : 0);
    });
    const id = await submit(server, 2);
    const view = await ended(server, id);
    expect(view).toMatchObject({
      state: 'done',
      exitCode: 3,
      outputs: [{ path: 'pictures/a.bin', bytes: 6, task: 1 }],
    });
    expect(await out(server, id, 1)).toBe('9 1000001 true\n');
    expect(await out(server, id, 1, 'stderr')).toBe('careful\n');
    const file = await fetch(`${server.localUrl}/api/jobs/${id}/files/pictures/a.bin`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(file.headers.get('content-disposition')).toContain('attachment');
    expect(await api(server, 'GET', `/api/jobs/${id}/files/pictures/b.bin`)).toMatchObject({ status: 404 });
    expect(await api(server, 'GET', `/api/jobs/${id}/files/..%2f..%2fprogram.js`)).toMatchObject({ status: 404 });

    // The report of it: for the owner, and without a token only while it is shared, and without names of volunteers.
    const report = (await api(server, 'GET', `/api/jobs/${id}/report`)).body as JobReport;
    const sha = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
    expect(report).toMatchObject({
      format: 'mayfly-report',
      version: REPORT_VERSION,
      job: { id, state: 'done', exitCode: 3, size: 2, program: { hash: view.program.hash } },
      totals: { messages: view.tasks.reduce((n, t) => n + t.messagesOut, 0), faults: 0, incarnations: 2 },
      outputs: {
        stdout: [{ rank: 1, sha256: sha('9 1000001 true\n') }],
        stderr: [{ rank: 1, sha256: sha('careful\n') }],
        files: [{ path: 'pictures/a.bin', bytes: 6, rank: 1, sha256: sha(new Uint8Array([1, 2, 3, 4, 5, 6])) }],
      },
    });
    const stranger = async (): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${server.localUrl}/api/reports/${id}`);
      return { status: answer.status, text: await answer.text() };
    };
    expect((await stranger()).status).toBe(404);
    await api(server, 'PUT', `/api/jobs/${id}/share`);
    const shared = await stranger();
    const { at, nodes, ...same } = JSON.parse(shared.text) as JobReport;
    expect(same).toEqual((({ at: _at, nodes: _nodes, ...rest }) => rest)(report));
    expect(at).toBeGreaterThanOrEqual(report.at);
    expect(nodes.every((n) => n.name === undefined)).toBe(true);
    expect(
      await fetch(`${server.localUrl}/api/jobs/${id}/report`).then((r) => r.status),
      'the way with a token stays closed',
    ).toBe(401);
    await api(server, 'DELETE', `/api/jobs/${id}/share`);
    expect((await stranger()).status).toBe(404);

    // All of it as one archive: with the token, or once by a ticket.
    const ticket = (await api(server, 'POST', `/api/jobs/${id}/archive`)).body as { url: string };
    const archive = await fetch(`${server.localUrl}${ticket.url}`);
    expect(archive.headers.get('content-disposition')).toContain(`-${id}.tar"`);
    const entries = (await unpackTar(new Uint8Array(await archive.arrayBuffer()), { strip: 1 })).map((e) => [
      e.header.name,
      Buffer.from(e.data ?? []).toString('latin1'),
    ]);
    expect(Object.fromEntries(entries)).toEqual({
      'stdout/rank-1.txt': '9 1000001 true\n',
      'stderr/rank-1.txt': 'careful\n',
      'files/pictures/a.bin': '\x01\x02\x03\x04\x05\x06',
    });
    expect(await fetch(`${server.localUrl}${ticket.url}`).then((r) => r.status), 'a ticket serves once').toBe(404);
    expect(await fetch(`${server.localUrl}/api/jobs/${id}/archive`).then((r) => r.status)).toBe(401);

    // Again, with the same seed: the same; then one that writes another byte, seen from both sides.
    const again = async (of: string): Promise<string> => {
      const { status, body } = await api(server, 'POST', `/api/jobs/${of}/again`);
      expect(status).toBe(201);
      const fresh = (body as { id: string }).id;
      await ended(server, fresh);
      return fresh;
    };
    const comparison = async (of: string): Promise<ComparisonView> =>
      (await api(server, 'GET', `/api/jobs/${of}/comparison`)).body as ComparisonView;
    expect((await comparison(id)).runs).toEqual([]);
    const second = await again(id);
    expect(await comparison(id)).toMatchObject({
      streams: 1,
      files: 1,
      bytes: 21,
      runs: [{ job: second, same: true, differences: [], faults: 0 }],
    });
    expect(((await api(server, 'GET', `/api/jobs/${second}/report`)).body as JobReport).job.seed).toBe(report.job.seed);
    last = 7;
    const third = await again(second);
    const other = { same: false, differences: ['The file pictures/a.bin has different content.'] };
    expect(await comparison(id)).toMatchObject({
      runs: [
        { job: third, ...other },
        { job: second, same: true },
      ],
    });
    expect(await comparison(third)).toMatchObject({
      runs: [
        { job: second, ...other },
        { job: id, ...other },
      ],
    });
    expect(await api(server, 'GET', `/api/jobs/${third}`)).toMatchObject({
      body: { compareWith: id, name: `${view.name} (again)` },
    });
  });

  it('feeds standard input in order, across a restart of the server', async () => {
    const dataDir = await freshDir();
    const first = await createServer({
      dataDir,
      port: 0,
      token: TOKEN,
      log: 'silent',
      dispatcher: times,
      ...sharedCompiler(),
    });
    new Volunteer(first.localUrl, 1, async (r) => {
      let all = '';
      for (;;) {
        const m = await r.recv(true);
        expect(m.mode).toBe(WorldMode.STDIN);
        if (m.body.length === 0) break;
        all += m.text;
        r.print(`got ${m.text.trim()}`);
      }
      r.print(`all ${JSON.stringify(all)}`);
      r.exit(0);
    });
    const id = await submit(first, 1, {
      options: { interactive: true },
      stdin: Buffer.from('one\n').toString('base64'),
    });
    await until('the first line', async () => (await out(first, id, 0)).includes('got one'));
    await first.close();
    const second = await startServer({ dataDir, port: first.port, dispatcher: times });
    await api(second, 'POST', `/api/jobs/${id}/stdin`, new TextEncoder().encode('two\n'));
    await api(second, 'POST', `/api/jobs/${id}/stdin?end=1`, new TextEncoder().encode('three\n'));
    expect((await ended(second, id)).state).toBe('done');
    expect(await out(second, id, 0)).toBe('got one\ngot two\ngot three\nall "one\\ntwo\\nthree\\n"\n');
  });

  it('kill-a-rank restarts it, checkpoint-now reaches its node, cancel revokes', async () => {
    const server = await sharedServer({ dispatcher: times });
    const killed = door();
    const a = new Volunteer(server.localUrl, 3, ring(1_000_000, 45, killed.opened));
    const id = await submit(server, 2);
    await until('runs', async () => (await out(server, id, 0)).includes('lap 10'));
    expect((await api(server, 'POST', `/api/jobs/${id}/tasks/1/checkpoint`)).status).toBe(200);
    await until('asked', () => a.checkpoints.length > 0);
    expect((await api(server, 'POST', `/api/jobs/${id}/tasks/1/kill`)).status).toBe(200);
    await until('again', async () => (await job(server, id)).tasks[1]!.incarnation === 1);
    expect((await job(server, id)).faults).toMatchObject([{ task: 1, incarnation: 0, cause: 'killed' }]);
    expect(await api(server, 'POST', `/api/jobs/${id}/tasks/7/kill`)).toMatchObject({ status: 404 });
    const waits = await submit(server, 64);
    expect(await api(server, 'POST', `/api/jobs/${waits}/tasks/1/kill`)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT' },
    });
    await api(server, 'POST', `/api/jobs/${waits}/cancel`);
    killed.open();
    await until('replayed', async () => (await out(server, id, 0)).includes('lap 50'));
    expect((await api(server, 'POST', `/api/jobs/${id}/cancel`)).status).toBe(200);
    expect((await ended(server, id)).state).toBe('cancelled');
    await until('revoked', () => a.revoked.includes('CANCELLED'));
  });

  it('ends a job that writes more than its limit, a job over its time, and a deadlock, each with its name', async () => {
    const server = await sharedServer({ dispatcher: times });
    new Volunteer(server.localUrl, 4, async (r) => {
      if (r.args[0] === 'flood')
        for (;;) {
          r.print('x'.repeat(1000));
          await new Promise((resolve) => setImmediate(resolve));
        }
      await r.recv();
    });
    const flood = await submit(server, 1, { args: ['flood'], options: { outputLimitBytes: 10_000 } });
    expect(await ended(server, flood)).toMatchObject({ state: 'failed', error: { code: 'OUTPUT_LIMIT' } });
    expect((await out(server, flood, 0)).length).toBeLessThanOrEqual(10_000);
    const dead = await submit(server, 2);
    const view = await ended(server, dead);
    expect(view).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
    expect(view.error!.message).toContain('rank 1 waits in MPI_Recv');
    const slow = await submit(server, 1, { options: { timeLimitMs: 1000, interactive: true } });
    expect(await ended(server, slow)).toMatchObject({
      state: 'failed',
      error: { code: expect.stringMatching(/TIME_LIMIT|DEADLOCK/) as string },
    });
  });

  it(
    'D12: a node that says its rank waits ends no job: the ranks start elsewhere, and what holds is a deadlock ' +
      'that comes again',
    async () => {
      const server = await sharedServer({ dispatcher: times });
      let lies = 1;
      const honest: TestProgram = async (r) => {
        if (r.task === 1 && lies-- > 0) await r.recv(); // its node keeps rank 0 waiting, and says that rank 1 waits
        if (r.task === 1) await r.send(0, 'at last');
        else await r.recv();
        if (r.args[0] === 'dead') await r.recv();
        r.exit(0);
      };
      for (let n = 0; n < 2; n++) new Volunteer(server.localUrl, 1, honest);
      const view = await ended(server, await submit(server, 2));
      expect(view).toMatchObject({ state: 'done', exitCode: 0 });
      expect(view.faults.map((f) => [f.task, f.cause])).toEqual([
        [0, 'doubted'],
        [1, 'doubted'],
      ]);
      const dead = await ended(server, await submit(server, 2, { args: ['dead'] }));
      expect(dead).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
      // Both nodes have done useful work by now: they are believed at once.
      expect(dead.faults).toEqual([]);
    },
  );

  it('D11: a node that says LOST_LOG of its rank ends no job: the logs have everything, and the rank starts again', async () => {
    const server = await sharedServer({ dispatcher: times });
    const hold = door();
    const nodes = [0, 1].map(() => new Volunteer(server.localUrl, 1, ring(30, 15, hold.opened)));
    const id = await submit(server, 2);
    await until('the token waits', async () => (await out(server, id, 1)).includes('lap 10'));
    for (const v of nodes)
      for (const { task, incarnation } of v.assigned)
        v.control.emit('report', {
          job: id,
          task,
          incarnation,
          event: 'refused',
          error: { code: 'LOST_LOG', message: 'the logs lost everything' },
        });
    await until('lost', async () => (await job(server, id)).faults.length === 2);
    hold.open();
    const view = await ended(server, id);
    expect(view).toMatchObject({ state: 'done', faults: [{ cause: 'refused' }, { cause: 'refused' }] });
    for (const t of [0, 1]) expect(await out(server, id, t)).toBe(expectedRing(t, 2, 30));
  });

  it('an abort is a result: the job fails at once with the message of the rank', async () => {
    const server = await sharedServer({ dispatcher: times });
    new Volunteer(server.localUrl, 2, async (r) => {
      if (r.task === 1) r.exit(7, { code: 'ABORTED', message: 'MPI_Abort(7)' });
      else await r.recv();
    });
    const view = await ended(server, await submit(server, 2));
    expect(view).toMatchObject({
      state: 'failed',
      exitCode: 7,
      error: { code: 'ABORTED', message: expect.stringContaining('MPI_Abort(7)') as string },
      faults: [],
    });
  });

  it("protocol 'none' relays, keeps nothing, and ends the job when a node is lost", async () => {
    const server = await sharedServer({ dispatcher: times });
    const a = new Volunteer(server.localUrl, 1, ring(30));
    const b = new Volunteer(server.localUrl, 1, ring(30));
    await until('welcomed', () => a.welcome !== undefined && b.welcome !== undefined);
    const good = await submit(server, 2, { options: { protocol: 'none' } });
    expect((await ended(server, good)).state).toBe('done');
    expect(await out(server, good, 1)).toBe(expectedRing(1, 2, 30));
    a.kill();
    b.kill();
    const never = door();
    const c = new Volunteer(server.localUrl, 1, ring(500, 45, never.opened));
    new Volunteer(server.localUrl, 1, ring(500, 45, never.opened));
    const lost = await submit(server, 2, { options: { protocol: 'none' } });
    await until('in the middle', async () => (await out(server, lost, 0)).includes('lap 10'));
    c.kill();
    new Volunteer(server.localUrl, 1, ring(500));
    expect(await ended(server, lost)).toMatchObject({ state: 'failed', error: { code: 'LOST_NODES' } });
  });
});
