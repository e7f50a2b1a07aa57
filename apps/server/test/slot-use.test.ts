/**
 * How the slots of nodes were used: the ring (S1, S2 of slot-ring.ts), the accounts (U1–U4 of slot-use.ts), and what
 * REST says of a node.
 */
import fc from 'fast-check';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  SLOT_KINDS,
  incarnation,
  jobId,
  nodeId,
  taskId,
  type Heartbeat,
  type NodeDetail,
  type NodesTimeline,
  type NodeView,
} from '@mayfly/wire';
import { COLUMNS, KINDS, SlotRing, WIDTH_MS } from '../src/nodes/slot-ring.ts';
import { SlotUse } from '../src/nodes/slot-use.ts';
import { api, door, program, startServer, until } from './harness.ts';
import { Volunteer, type TestProgram } from './volunteer.ts';

/** At the beginning of a column. */
const T0 = 1_700_000_000_000;
const [JOB, NODE] = [jobId('abcdefghijkl'), nodeId('n0d3n0d3n0d3')];

describe('the ring', () => {
  it('holds what was added within its reach, and nothing else, whatever comes in which order (S1, S2)', () => {
    const adding = fc.record({
      kind: fc.nat(KINDS - 1),
      after: fc.oneof(fc.integer({ min: -20_000, max: 20_000 }), fc.integer({ min: 0, max: 2 * COLUMNS * WIDTH_MS })),
      long: fc.nat(30_000),
      ms: fc.nat(50_000),
    });
    fc.assert(
      fc.property(fc.array(adding, { maxLength: 30 }), (all) => {
        const ring = new SlotRing();
        // The oracle: an amount by column and kind, for ever; what has left the ring is cut off at each step.
        const oracle = new Map<number, number[]>();
        let [now, newest] = [T0, -Infinity];
        for (const a of all) {
          now += a.after;
          const to = now + a.long;
          ring.add(a.kind, now, to, a.ms);
          if (a.long === 0 || a.ms === 0) continue;
          const last = Math.ceil(to / WIDTH_MS) - 1;
          if (last <= newest - COLUMNS) oracle.clear();
          if (last <= newest - COLUMNS || last > newest) newest = last;
          for (const c of oracle.keys()) if (c <= newest - COLUMNS) oracle.delete(c);
          for (let t = now; t < to;) {
            const c = Math.floor(t / WIDTH_MS);
            const end = Math.min(to, (c + 1) * WIDTH_MS);
            if (c > newest - COLUMNS) {
              if (!oracle.has(c)) oracle.set(c, Array<number>(KINDS).fill(0));
              oracle.get(c)![a.kind]! += (a.ms * (end - t)) / a.long;
            }
            t = end;
          }
        }
        if (newest === -Infinity) return;
        const first = newest - COLUMNS - 3;
        const read = new Uint16Array((COLUMNS + 6) * KINDS);
        ring.read(first, COLUMNS + 6, read, 0);
        const wrong = [...read].flatMap((hundredths, i) => {
          const want = (100 * (oracle.get(first + Math.floor(i / KINDS))?.[i % KINDS] ?? 0)) / WIDTH_MS;
          return Math.abs(hundredths - Math.min(65_535, want)) < 0.6
            ? []
            : [{ column: Math.floor(i / KINDS), kind: SLOT_KINDS[i % KINDS], hundredths, want }];
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

type Told = Heartbeat['tasks'][number];
const told = (task: number, spent: number[], more: Partial<Told> = {}): Told => ({
  job: JOB,
  task: taskId(task),
  incarnation: incarnation(0),
  started: true,
  activity: { state: 'computing', arrivals: 0, sends: 0 },
  spent,
  ...more,
});
const view = (state: NodeView['state'], slots = 2, busy = 0): NodeView => ({
  id: NODE,
  name: 'a',
  engine: 'vitest',
  slots,
  busy,
  state,
  since: T0,
  lastSeen: T0,
});

/** A node of two slots under the hands of a test. */
class Scene {
  readonly use = new SlotUse(4);
  say(at: number, tasks: Told[], busy = tasks.length, slots = 2): void {
    this.use.heard(NODE, tasks, slots, busy, (_job, task) => task < 8, T0 + at);
  }
  see(at: number, state: NodeView['state'], busy = 0): void {
    this.use.tick([view(state, 2, busy)], T0 + at);
  }
  /** Slot-seconds by kind over all columns that are over by then; what is zero is left out. */
  sums(at: number): Record<string, number> {
    const c = this.use.columns([NODE], 0, T0 + at);
    const out: Record<string, number> = {};
    c.slots.forEach(
      (x, i) => x > 0 && (out[SLOT_KINDS[i % KINDS]!] = (out[SLOT_KINDS[i % KINDS]!] ?? 0) + (x * WIDTH_MS) / 100_000),
    );
    return Object.fromEntries(Object.entries(out).map(([k, s]) => [k, Math.round(s * 10) / 10]));
  }
}
const END = 60_000;

describe('the accounts', () => {
  it('a slot that computes, one that starts and then waits, and then both are free', () => {
    const s = new Scene();
    s.say(0, []);
    s.say(1000, [told(0, [1000])]);
    for (let t = 2; t <= 10; t++)
      s.say(1000 * t, [told(0, [1000 * t]), t < 5 ? told(1, [], { started: false }) : told(1, [0, 1000 * (t - 4)])]);
    for (let t = 11; t <= 20; t++) s.say(1000 * t, []);
    expect(s.sums(END)).toEqual({ computing: 10, starting: 3, waiting: 6, idle: 1 + 20 });
  });

  it('a node that says the same twice, and then twice as much: nothing is lost', () => {
    const s = new Scene();
    for (let t = 0; t <= 20; t++) s.say(1000 * t, [told(0, [0, 1000 * t - (t % 3) * 700])], 1, 1);
    s.say(21_000, [told(0, [0, 21_000])], 1, 1);
    expect(s.sums(END)).toEqual({ waiting: 21 });
  });

  it('a node that falls silent was silent since it was heard last, whatever it says of that time later (U2)', () => {
    const s = new Scene();
    for (let t = 0; t <= 5; t++) s.say(1000 * t, [told(0, [1000 * t])]);
    for (let t = 6; t <= 8; t++) s.see(1000 * t, 'here', 1);
    for (let t = 9; t <= 14; t++) s.see(1000 * t, 'suspect', 1);
    expect(s.sums(END)).toEqual({ computing: 5, idle: 5, silent: 2 * 9 });
    s.say(15_000, [told(0, [15_000])]);
    s.say(16_000, [told(0, [16_000])]);
    expect(s.sums(END)).toEqual({ computing: 6, idle: 6, silent: 2 * 10 });
  });

  it('a node that is away is empty, and goes on when it comes back as itself (U2)', () => {
    const s = new Scene();
    for (let t = 0; t <= 5; t++) s.say(1000 * t, []);
    for (let t = 6; t <= 30; t++) s.see(1000 * t, 'gone');
    s.say(30_500, [told(0, [25_000])]);
    s.say(31_500, [told(0, [25_000, 1000])]);
    expect(s.sums(END)).toEqual({ idle: 10 + 1, waiting: 1 });
  });

  it('what a rank spent before it was first heard of here is not known, nor what others say of it (U3)', () => {
    const s = new Scene();
    s.say(0, []);
    s.say(1000, [told(0, [90_000]), told(9, [500])], 1); // the server has started anew; nobody gave 9 to this node
    s.say(2000, [told(0, [90_000, 0, 0, 0, 1000]), told(0, [0])], 1);
    s.say(3000, [told(0, [90_200, 0, 0, 0, 1000])]); // much is missing
    expect(s.sums(END)).toEqual({ idle: 3, replaying: 1, computing: 0.2 });
  });

  it('never hold more than the slots, whatever nodes say (U1), and no more nodes than may be (U4)', () => {
    const task = fc.record({
      task: fc.nat(5),
      inc: fc.nat(2),
      started: fc.boolean(),
      spent: fc.array(fc.nat(9000), { maxLength: 7 }),
    });
    const step = fc.record({
      after: fc.nat(4000),
      tasks: fc.array(task, { maxLength: 6 }),
      state: fc.constantFrom('here', 'here', 'here', 'suspect', 'gone'),
      busy: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const s = new Scene();
        let at = 0;
        for (const { after, tasks, state, busy } of steps) {
          at += after;
          if (state === 'here')
            s.use.heard(
              NODE,
              tasks.map((t) => told(t.task, t.spent, { started: t.started, incarnation: incarnation(t.inc) })),
              3,
              busy,
              (_j, t) => t < 3,
              T0 + at,
            );
          else s.use.tick([view(state as NodeView['state'], 3, busy)], T0 + at);
        }
        const c = s.use.columns([NODE], 0, T0 + at + 10_000);
        let most = 0;
        for (let i = 0; i < c.slots.length; i += KINDS)
          most = Math.max(
            most,
            c.slots.subarray(i, i + KINDS).reduce((n, x) => n + x, 0),
          );
        expect(most).toBeLessThanOrEqual(300 + KINDS);
      }),
      { numRuns: 2000 },
    );
    const use = new SlotUse(2);
    ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].forEach((id, i) => use.heard(nodeId(id), [], 1, 0, () => true, T0 + i));
    expect(use.pool).toEqual(['bbbbbbbb', 'cccccccc']);
    for (let t = 0; t < 10; t++) use.tick([], T0 + 2 + COLUMNS * WIDTH_MS);
    expect(use.pool).toEqual(['cccccccc']);
  });

  it('memory is what the ranks of a node have together, the most in a column', () => {
    const s = new Scene();
    for (let t = 0; t <= 12; t++)
      s.say(
        1000 * t,
        t < 5
          ? []
          : [
              told(0, [1000 * t], { memory: 65_536 * (t === 7 ? 30 : 20) }),
              told(1, [], { memory: 65_536 }),
              told(9, [], { memory: 1e12 }),
            ],
        2,
      );
    const c = s.use.columns([NODE], T0, T0 + 16_500);
    expect(s.use.memory(NODE, c)).toEqual([null, 65_536 * 31, 65_536 * 21]);
    expect(s.use.memory(NODE, { from: T0 - 10_000, columns: 1 })).toEqual([null]);
  });

  it('are told by the column, once it is over; who has some asks for what is new', () => {
    const s = new Scene();
    for (let t = 0; t <= 12; t++) s.say(1000 * t, []);
    expect(s.use.columns([NODE, nodeId('nobody00')], T0, T0 + 12_000)).toMatchObject({
      from: T0,
      columns: 2,
      nextMs: 4500,
      nodes: [NODE],
    });
    expect(s.use.columns([NODE], T0 + 5000, T0 + 12_000)).toMatchObject({ from: T0 + 5000, columns: 1 });
    expect(s.use.columns([NODE], T0 + 10_000, T0 + 11_000)).toMatchObject({ columns: 0 });
    expect(s.use.columns([NODE], 0, T0 + 12_000).columns).toBe(120);
    expect([...s.use.columns([NODE], T0 + 5000, T0 + 12_000).slots]).toEqual(
      SLOT_KINDS.map((k) => (k === 'idle' ? 200 : 0)),
    );
  });
});

/** Rank 0 is at work until the test lets it go; rank 1 waits for it. */
const pair =
  (go: Promise<void>): TestProgram =>
  async (r) => {
    if (r.task === 0) {
      await go;
      await r.send(1, 'token');
    } else await r.recv();
    r.exit(0);
  };

describe('a real node', () => {
  it('is told by REST with the time of its slots, its ranks and its losses, also after it has gone', async () => {
    const server = await startServer({
      dispatcher: { graceMs: 300, tickMs: 50, silentMs: 60_000, heartbeatMs: 200, forgetMs: 500 },
    });
    const go = door();
    const first = new Volunteer(server.localUrl, 3, pair(go.opened), { name: 'first' });
    const posted = await api(server, 'POST', '/api/jobs', program('export {};', 2));
    expect(posted).toMatchObject({ status: 201 });
    const { id } = posted.body as { id: string };
    const all = async (query = ''): Promise<NodesTimeline & { sums: (node: string) => Record<string, number> }> => {
      const t = (await api(server, 'GET', `/api/nodes/timeline${query}`)).body as NodesTimeline;
      const bytes = inflateRawSync(Buffer.from(t.slots, 'base64'));
      expect(bytes.length).toBe(2 * t.nodes.length * t.columns * t.kinds.length);
      const sums = (node: string): Record<string, number> => {
        const out: Record<string, number> = Object.fromEntries(t.kinds.map((k) => [k, 0]));
        const at = t.nodes.indexOf(node as never) * t.columns * KINDS;
        for (let i = 0; i < t.columns * KINDS; i++) out[t.kinds[i % KINDS]!]! += bytes.readUInt16LE(2 * (at + i));
        return out;
      };
      return { ...t, sums };
    };
    let node = '';
    let seen: unknown;
    await until(
      () => `one slot of three computes, one waits, one is idle: ${JSON.stringify(seen)}`,
      async () => {
        const nodes = (await api(server, 'GET', '/api/nodes')).body as NodeView[];
        node = nodes[0]?.id ?? '';
        const t = await all();
        const s = t.nodes.includes(node as never) ? t.sums(node) : {};
        seen = [s, nodes, (await api(server, 'GET', `/api/jobs/${id}`)).body];
        return (s['computing'] ?? 0) > 0 && (s['waiting'] ?? 0) > 0 && (s['idle'] ?? 0) > 0;
      },
    );
    const last = await all();
    expect(last.nextMs).toBeGreaterThan(0);
    expect((await all(`?from=${last.from + (last.columns - 1) * last.widthMs}`)).columns).toBeLessThan(4);
    expect(((await api(server, 'GET', `/api/nodes/${node}/timeline`)).body as NodesTimeline).nodes).toEqual([node]);
    const detail = async (): Promise<NodeDetail> => (await api(server, 'GET', `/api/nodes/${node}`)).body as NodeDetail;
    expect(await detail()).toMatchObject({
      node: { name: 'first', state: 'here', slots: 3, busy: 2 },
      ranks: [
        { job: id, task: 0, state: 'running', activity: { state: 'computing' } },
        { job: id, task: 1, state: 'running', activity: { state: 'waiting', call: 'MPI_Recv' } },
      ],
      losses: [],
    });
    first.kill();
    await until(
      'the list has forgotten it',
      async () => ((await api(server, 'GET', '/api/nodes')).body as NodeView[]).length === 0,
    );
    const gone = await detail();
    expect(gone).toMatchObject({ node: { name: 'first', state: 'gone' }, ranks: [] });
    expect(gone.losses.map((l) => [l.job, l.task, l.cause]).sort()).toEqual([
      [id, 0, 'disconnected'],
      [id, 1, 'disconnected'],
    ]);
    const unknown = await api(server, 'GET', '/api/nodes/0123456789abcdef');
    expect(unknown).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', message: expect.stringContaining('forgets nodes ten minutes') },
    });
    expect((await api(server, 'GET', '/api/nodes/0123456789abcdef/timeline')).status).toBe(404);
    for (const path of ['/api/nodes/NO', '/api/nodes/NO/timeline'])
      expect(await api(server, 'GET', path)).toMatchObject({
        status: 404,
        body: { code: 'NOT_FOUND', message: expect.stringMatching(/^There is no node NO\./) },
      });
    go.open();
  });
});
