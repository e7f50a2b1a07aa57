/**
 * The history of a job: lanes (L1, L2 of job-history.ts), what REST and the dashboard's socket say of it, and that it
 * outlives a restart.
 */
import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { io, type Socket } from 'socket.io-client';
import { describe, expect, it } from 'vitest';
import {
  LANE_KINDS,
  jobId,
  incarnation,
  taskId,
  unpackArrows,
  type ChartsView,
  type MatrixNews,
  type MatrixView,
  type TimelineNews,
  type TimelineView,
  type ViewerEvents,
  type ViewerRequests,
} from '@mayfly/wire';
import { columnsOf } from '../src/history/columns.ts';
import { JobHistory } from '../src/history/job-history.ts';
import { Arrows } from '../src/history/arrows.ts';
import { Gauges } from '../src/history/gauges.ts';
import { api, door, freshDir, later, program, startServer, TOKEN, until } from './harness.ts';
import { Volunteer, type TestProgram } from './volunteer.ts';

const T0 = 1_700_000_000_000;
const kind = (k: (typeof LANE_KINDS)[number]): number => LANE_KINDS.indexOf(k);
const total = (h: JobHistory, task: number, k?: number): number => {
  const { sums } = h.buckets.read(h.since, h.buckets.until - h.since, 1, task, task);
  return k === undefined ? sums.reduce((n, x) => n + x, 0) : sums[k]!;
};

describe('lanes', () => {
  it('account a life: starting, at work, dead, replaying; the acting incarnation on its node alone is believed', () => {
    const h = new JobHistory(2, T0);
    const say = (inc: number, node: string, spent: number[], at: number): void =>
      h.heard(taskId(0), incarnation(inc), node, spent, T0 + at);
    h.assigned(taskId(0), incarnation(0), 'a', T0 + 500);
    say(0, 'a', [700, 300], 2500);
    say(0, 'b', [9000], 2500); // another node
    say(1, 'a', [9000], 2500); // another incarnation
    say(0, 'a', [1690, 300], 3500); // its clock is one per cent slow
    h.lost(taskId(0), incarnation(0), T0 + 4000);
    say(0, 'a', [9000, 9000], 4100);
    h.assigned(taskId(0), incarnation(1), 'b', T0 + 6000);
    say(1, 'b', [0, 0, 0, 0, 1000], 7000);
    h.done(taskId(0), T0 + 7600);
    say(1, 'b', [400, 0, 0, 0, 1200], 7700); // last words
    expect(LANE_KINDS.map((_, k) => total(h, 0, k))).toEqual([1700 + 400, 300, 0, 0, 1200, 0, 1000, 2000, 0]);
    expect(h.events.map((e) => e.kind)).toEqual(['assigned', 'assigned', 'done']);
  });

  it('say what share of the last ten seconds the ranks computed', () => {
    const h = new JobHistory(2, T0);
    expect(h.computed(T0 + 1000)).toBeUndefined();
    for (const rank of [0, 1]) h.assigned(taskId(rank), incarnation(0), 'a', T0);
    h.heard(taskId(0), incarnation(0), 'a', [20_000], T0 + 20_000);
    h.heard(taskId(1), incarnation(0), 'a', [10_000, 10_000], T0 + 20_000);
    // A second later nothing is known of that second.
    expect([h.computed(T0 + 20_000), h.computed(T0 + 21_000)]).toEqual([0.75, 0.75]);
    h.pause(true, T0 + 22_000);
    expect(h.computed(T0 + 22_000)).toBeUndefined();
  });

  it('say what a job of less than a heartbeat did, and that a paused one was paused', () => {
    const h = new JobHistory(2, T0);
    h.assigned(taskId(0), incarnation(0), 'a', T0);
    h.done(taskId(0), T0 + 800);
    h.heard(taskId(0), incarnation(0), 'a', [300, 200], T0 + 850);
    expect([total(h, 0, kind('computing')), total(h, 0, kind('waiting')), total(h, 0, kind('starting'))]).toEqual([
      300, 200, 300,
    ]);
    h.assigned(taskId(1), incarnation(0), 'a', T0);
    h.heard(taskId(1), incarnation(0), 'a', [1000], T0 + 1000);
    h.pause(true, T0 + 1000);
    h.lost(taskId(1), incarnation(0), T0 + 1000);
    h.settle(T0 + 5000);
    h.pause(false, T0 + 6000);
    h.settle(T0 + 6500);
    expect([total(h, 1, kind('paused')), total(h, 1, kind('dead'))]).toEqual([5000, 500]);
  });

  it(
    'end with the job: what ranks say late belongs to the time before, a column is as wide as the end leaves ' +
      'it (L3)',
    () => {
      const h = new JobHistory(3, T0);
      for (const t of [0, 1, 2]) h.assigned(taskId(t), incarnation(0), 'a', T0);
      h.heard(taskId(0), incarnation(0), 'a', [300], T0 + 300);
      h.done(taskId(0), T0 + 402);
      h.end(T0 + 400);
      h.heard(taskId(0), incarnation(0), 'a', [380, 15], T0 + 2000);
      h.heard(taskId(1), incarnation(0), 'a', [100, 300], T0 + 4900);
      h.heard(taskId(1), incarnation(0), 'a', [4000, 300], T0 + 5000);
      h.settle(T0 + 5000);
      expect([h.since, h.until, h.ended, h.events.at(-1)!.at]).toEqual([T0, T0 + 400, true, T0 + 400]);
      expect(total(h, 2)).toBe(0); // it may still say something
      h.close();
      expect(total(h, 2, kind('starting'))).toBe(400);
      expect([total(h, 0), total(h, 1), h.buckets.until]).toEqual([400, 400, T0 + 1000]);
      const c = columnsOf(h, { from: 0, to: Number.MAX_SAFE_INTEGER, first: 0, last: 1, widthMs: 1 });
      expect(c).toMatchObject({ from: T0, widthMs: 1000, columns: 1 });
      expect([...c.shares].filter((share) => share > 0)).toEqual([245, 10, 64, 191]);
      const g = new Gauges(T0);
      g.read(T0, { messages: 0, bytes: 0, logBytes: 0, imageBytes: 0 });
      g.read(h.until, { messages: 8, bytes: 80, logBytes: 0, imageBytes: 0 });
      expect(g.columns(h.since, h.until, 240)).toMatchObject({ columns: 1, values: { messages: [20] } });
    },
  );

  it('never hold more time than has passed, whatever ranks say and the server sees (L1, L2)', () => {
    const step = fc.record({
      what: fc.constantFrom('heard', 'heard', 'heard', 'lost', 'assigned', 'settle', 'pause', 'done'),
      after: fc.nat(4000),
      spent: fc.array(fc.nat(5000), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const h = new JobHistory(1, T0);
        let [now, inc, spent, paused] = [T0, 0, [] as number[], false];
        h.assigned(taskId(0), incarnation(0), 'a', now);
        for (const s of steps) {
          now += s.after;
          if (s.what === 'heard')
            h.heard(taskId(0), incarnation(inc), 'a', (spent = s.spent.map((ms, k) => ms + (spent[k] ?? 0))), now);
          else if (s.what === 'lost') h.lost(taskId(0), incarnation(inc), now);
          else if (s.what === 'assigned') {
            h.assigned(taskId(0), incarnation(++inc), 'a', now);
            spent = [];
          } else if (s.what === 'settle') h.settle(now);
          else if (s.what === 'pause') h.pause((paused = !paused), now);
          else h.done(taskId(0), now);
          expect(total(h, 0)).toBeLessThanOrEqual(now - T0 + 1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it(
    'and gauges: throughput per second and mean levels; a gap is not known; a counter that begins anew is no ' +
      'throughput; a record keeps them',
    () => {
      const g = new Gauges(T0);
      const say = (at: number, messages: number, logBytes: number): void =>
        g.read(T0 + at, { messages, bytes: 10 * messages, logBytes, imageBytes: 7 });
      say(0, 0, 0);
      say(1000, 50, 400);
      say(2000, 150, 600);
      say(12_000, 900, 800); // nobody knows when
      say(13_000, 20, 200); // the server has started again
      const view = {
        from: T0,
        widthMs: 1000,
        columns: 13,
        values: {
          messages: [50, 100, ...Array<null>(10).fill(null), 0],
          bytes: [500, 1000, ...Array<null>(10).fill(null), 0],
          logBytes: [400, 600, ...Array<null>(10).fill(null), 200],
          imageBytes: [7, 7, ...Array<null>(10).fill(null), 7],
        },
      };
      expect(g.columns(T0, T0 + 13_000, 100)).toEqual(view);
      expect(new Gauges(T0, g.record()).columns(T0, T0 + 13_000, 100)).toEqual(view);
      expect(g.columns(T0, T0 + 13_000, 4)).toMatchObject({
        widthMs: 4000,
        columns: 4,
        values: { messages: [75, null, null, 0] },
      });
    },
  );

  it('thin out the sample of messages evenly, and say how thin it is', () => {
    let now = 1e6;
    const a = new Arrows(() => now);
    for (let second = 0; second < 4; second++, now += 1000) for (let i = 0; i < 5000; i++) a.add(i % 7, 3, 10, 1);
    a.add(0, 3, 10, 1);
    expect(a.oneIn).toBe(5);
    expect(a.taken).toBe(1000 * 4 + 1);
    expect(a.since(a.taken - 1000, 4, 4).length).toBe(
      a.since(a.taken - 1000, 0, 6).filter(([, src]) => src === 4).length,
    );
  });
});

/** A token goes round; rank 0 waits at the door before each lap but the first. */
const ring =
  (laps: number, doors: Promise<void>[]): TestProgram =>
  async (r) => {
    for (let lap = 0; lap < laps; lap++) {
      if (r.task === 0) await doors[lap];
      if (r.task === 0) await r.send(1, 'token', 7);
      await r.recv();
      if (r.task !== 0) await r.send((r.task + 1) % r.size, 'token', 7);
    }
    r.exit(0);
  };

describe('the history of a real job', () => {
  it(
    'is told by REST and, of what is drawn only, by the socket; a lost rank is dead for a while; the matrix is ' +
      'the ring; a restart keeps it',
    async () => {
      const dataDir = await freshDir();
      const times = { graceMs: 300, tickMs: 50, silentMs: 60_000, restartGraceMs: 60_000, heartbeatMs: 200 };
      const server = await startServer({ dataDir, dispatcher: times });
      const [middle, end] = [door(), door()];
      const play = ring(3, [Promise.resolve(), middle.opened, end.opened]);
      const first = new Volunteer(server.localUrl, 2, play, { name: 'first' });
      const second = new Volunteer(server.localUrl, 1, play, { name: 'second' });
      const { body } = await api(server, 'POST', '/api/jobs', program('export {};', 3));
      const id = (body as { id: string }).id;
      const timeline = async (query = ''): Promise<TimelineView & { bytes: Uint8Array }> => {
        const view = (await api(server, 'GET', `/api/jobs/${id}/timeline${query}`)).body as TimelineView;
        return { ...view, bytes: inflateRawSync(Buffer.from(view.shares, 'base64')) };
      };
      const has = (
        v: { bytes: Uint8Array; first: number; last: number },
        rank: number,
        k: (typeof LANE_KINDS)[number],
      ): boolean =>
        v.bytes.some(
          (share, i) =>
            share > 0 &&
            i % LANE_KINDS.length === kind(k) &&
            v.first + (Math.floor(i / LANE_KINDS.length) % (v.last - v.first + 1)) === rank,
        );

      const socket: Socket<ViewerEvents, ViewerRequests> = io(`${server.localUrl}/dashboard`, {
        auth: { token: TOKEN },
        forceNew: true,
      });
      later(async () => socket.close());
      const [news, cells] = [[] as TimelineNews[], [] as MatrixNews[]];
      socket.on('timeline', (n) => news.push(n));
      socket.on('matrix', (n) => cells.push(n));
      await expect(
        socket.emitWithAck('look', {
          job: jobId(id),
          timeline: { first: taskId(1), last: taskId(1), widthMs: 1 },
        } as never),
      ).resolves.toMatchObject({ error: { code: 'BAD_REQUEST' } });
      const look = {
        job: jobId(id),
        timeline: { first: taskId(1), last: taskId(1), widthMs: 1000 },
        matrix: { src: [taskId(0), taskId(2)], dst: [taskId(0), taskId(2)], bins: 64 },
      } satisfies Parameters<ViewerRequests['look']>[0];
      await expect(socket.emitWithAck('look', look)).resolves.toEqual({ ok: true });
      // As the page does: on a crowded machine a connection may be lost.
      socket.on('connect', () => void socket.emitWithAck('look', look).catch(() => undefined));

      await until('ranks account for their time', async () => {
        const v = await timeline();
        return [0, 1, 2].every((r) => has(v, r, 'waiting') || has(v, r, 'computing'));
      });
      const victim = [...second.jobs.values()].flatMap((j) => [...j.ranks.keys()])[0]!;
      second.kill();
      await until('nobody acts for the lost rank', async () => has(await timeline(), victim, 'dead'));
      new Volunteer(server.localUrl, 1, play, { name: 'third' });
      middle.open();
      await until('the second lap is logged', async () =>
        ((await api(server, 'GET', `/api/jobs/${id}/matrix`)).body as MatrixView).cells.every(
          ([, , messages]) => messages === 2,
        ),
      );
      const whole = await timeline();
      expect(whole).toMatchObject({ job: id, size: 3, first: 0, last: 2, ended: false });
      expect(await timeline(`?from=0&to=${Number.MAX_SAFE_INTEGER}&columns=900`)).toMatchObject({
        from: whole.since,
        widthMs: 1000,
      });
      expect(whole.bytes.length).toBe(whole.columns * 3 * LANE_KINDS.length);
      expect(whole.events.filter((e) => e.kind === 'fault')).toMatchObject([
        { task: victim, incarnation: 0, cause: 'disconnected' },
      ]);
      expect(whole.events.filter((e) => e.kind === 'assigned').length).toBe(4);

      // Of one lane only, and no more than has changed.
      await until('columns have come', () => news.some((n) => n.shares.byteLength > 0));
      await until('cells have come', () => cells.length > 0);
      for (const n of news) {
        expect([n.first, n.last, n.widthMs]).toEqual([1, 1, 1000]);
        expect(n.shares.byteLength).toBe(n.columns * LANE_KINDS.length);
      }

      const charts = async (of: typeof server): Promise<ChartsView> =>
        (await api(of, 'GET', `/api/jobs/${id}/charts`)).body as ChartsView;
      // Three messages a lap, in one column or in several.
      const drawn = ({ values, widthMs }: ChartsView): number =>
        Math.round(values.messages.reduce<number>((sum, n) => sum + ((n ?? 0) * widthMs) / 1000, 0));
      await until('the charts have both laps', async () => drawn(await charts(server)) >= 6);
      await server.close();
      const again = await startServer({ dataDir, dispatcher: times, port: server.port });
      const after = (await api(again, 'GET', `/api/jobs/${id}/timeline`)).body as TimelineView;
      expect(after.since).toBe(whole.since);
      expect(after.events.map((e) => e.kind)).toContain('server');
      expect(drawn(await charts(again))).toBeGreaterThanOrEqual(6);
      end.open();
      await until(
        'the job ends',
        async () => ((await api(again, 'GET', `/api/jobs/${id}`)).body as { state: string }).state === 'done',
      );
      // Its end is the end of its axes.
      const { endedAt } = (await api(again, 'GET', `/api/jobs/${id}`)).body as { endedAt: number };
      expect((await api(again, 'GET', `/api/jobs/${id}/timeline`)).body).toMatchObject({ ended: true, until: endedAt });
      expect(await charts(again)).toMatchObject({ ended: true, until: endedAt });
      const matrix = (await api(again, 'GET', `/api/jobs/${id}/matrix`)).body as MatrixView;
      expect(matrix.cells).toEqual([
        [0, 1, 3, 15],
        [1, 2, 3, 15],
        [2, 0, 3, 15],
      ]);
      expect((await api(again, 'GET', `/api/jobs/${id}/matrix?bins=2`)).body as MatrixView).toMatchObject({
        binned: 2,
        cells: [
          [0, 0, 3, 15],
          [0, 1, 3, 15],
          [1, 0, 3, 15],
        ],
      });
      expect(first.alive).toBe(true);
    },
  );

  it('shows messages as arrows to whoever looks at one of their ends', async () => {
    const server = await startServer();
    const { body } = await api(server, 'POST', '/api/jobs', program('export {};', 3));
    const id = jobId((body as { id: string }).id);
    const socket: Socket<ViewerEvents, ViewerRequests> = io(`${server.localUrl}/dashboard`, {
      auth: { token: TOKEN },
      forceNew: true,
    });
    later(async () => socket.close());
    const seen = new Set<string>();
    socket.on('arrows', (n) => {
      for (const [, src, dst, bytes, tag] of unpackArrows({ ...n, arrows: new Uint8Array(n.arrows) }))
        seen.add(`${src}→${dst} ${bytes} ${tag}`);
    });
    // Messages that pass while nobody looks are shown to nobody. So the token goes round until the arrows have come,
    // and whoever lost its connection looks again, as the page does.
    socket.on('connect', () => {
      const timeline = { first: taskId(1), last: taskId(1), widthMs: 1000, arrows: true };
      socket.emitWithAck('look', { job: id, timeline }).catch(() => undefined);
    });
    new Volunteer(server.localUrl, 3, ring(Infinity, []));
    await until('both arrows of rank 1 have come', () => seen.has('0→1 5 7') && seen.has('1→2 5 7'));
    expect([...seen].filter((arrow) => arrow.startsWith('2→0'))).toEqual([]);
  });
});
