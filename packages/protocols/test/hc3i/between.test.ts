/** The Channel Memory of one cluster, and what other clusters send to it. */
import { Kind, encodeFrame, emptyHeader, decodeAck, incarnation, taskId, type TaskId } from '@mayfly/wire';
import { expect, test } from 'vitest';
import type { ClcRecord, ClustersNow, Cuts } from '../../src/contract/clusters.ts';
import { protocols, type CmEffect } from '../../src/index.ts';
import { Bench, T, arrivals } from '../data-path/bench.ts';

/** Ranks 0 and 1 are cluster 0; the Channel Memory on the table is that of cluster 1, ranks 2 and 3. */
const HOMES = [0, 0, 1, 1];
const position = protocols.hc3i.recovery.start;
const text = new TextEncoder();

const cuts = (tasks: readonly number[], of: Record<number, Partial<{ sends: object; receives: object }>> = {}): Cuts =>
  tasks.map((t) => {
    const list = (o: object = {}): [TaskId, number][] =>
      Object.entries(o).map(([k, n]) => [taskId(Number(k)), n as number]);
    return [taskId(t), { sends: list(of[t]?.sends), receives: list(of[t]?.receives) }] as const;
  });
const clc = (cluster: number, sn: number, ddv: number[], of: Cuts, images = sn): ClcRecord => {
  return { cluster, sn, images, ddv, forced: false, at: 0, cuts: of };
};
const START = [clc(0, 1, [1, 0], cuts([0, 1])), clc(1, 1, [0, 1], cuts([2, 3]))] as const;
const now = (stored: readonly (readonly ClcRecord[])[], dead: ClustersNow['dead'] = []): ClustersNow => ({
  stored,
  underWay: [undefined, undefined],
  dead,
});

class Table extends Bench {
  /** Effects of these kinds since the last call. */
  #seen = 0;

  constructor() {
    super({ homes: HOMES, index: 1, count: 2 }, 'hc3i');
    this.begins(now(START.map((c) => [c])));
  }

  /** Of the next core. */
  goesBack(): void {
    Object.assign(this.options, { line: { epoch: 1, to: undefined } });
  }

  begins(clusters: ClustersNow): void {
    this.step({ type: 'clusters', now: clusters });
    for (const t of [0, 1, 2, 3]) this.attach(10 + t, t, { position });
    this.sent = [];
  }

  news(...types: CmEffect['type'][]): CmEffect[] {
    const news = this.effects.slice(this.#seen).filter((e) => types.includes(e.type));
    this.#seen = this.effects.length;
    return news;
  }

  cut(task: number, sn: number, sends: Record<number, number>, inc = 0): void {
    const h = { ...emptyHeader(Kind.CUT), src: T(task), dst: T(task), incarnation: incarnation(inc), word: sn };
    const list = Object.entries(sends).map(([dst, n]) => [Number(dst), n]);
    const body = { arrivals: 0, sends: list, receives: [], held: [] };
    this.frame(10 + task, encodeFrame(h, text.encode(JSON.stringify(body))));
    this.step({ type: 'flush' });
  }

  forced(sn: number, interval: number): void {
    this.step({ type: 'clcOver', cluster: 1, sn, record: clc(1, sn, [interval, sn], cuts([2, 3])) });
  }

  bodies(conn: number): number[][] {
    return this.take(Kind.ARRIVAL, conn).map((s) => [s.header.arrival, s.body[0]!]);
  }
}

test('G9 "the application takes messages into account only when the forced CLC is committed" (section 3.2)', () => {
  const b = new Table();
  b.send(10, 0, 2, 1);
  b.send(11, 1, 2, 1, 150);
  expect(b.news('force')).toEqual([{ type: 'force', from: 0, interval: 1 }]);
  expect(arrivals(b)).toEqual([]);
  expect(b.core.awaiting(T(2))).toBe(2);
  b.send(13, 3, 2, 1);
  b.forced(2, 1);
  expect(b.bodies(12).map(([arrival]) => arrival)).toEqual([1, 2, 3, 3, 3]);
  expect(b.core.awaiting(T(2))).toBe(0);
  b.send(10, 0, 2, 2);
  expect([b.news('force'), arrivals(b, 12)]).toEqual([[], [4]]);
});

test('S1, X7 what is sent after a cut is neither counted nor acknowledged before its CLC is over', () => {
  const b = new Table();
  b.forced(2, 1);
  b.send(10, 0, 2, 1);
  b.step({ type: 'clcBegins', cluster: 0, clc: { sn: 2, ended: [], starting: [] } });
  b.cut(0, 2, { 2: 1 });
  b.step({ type: 'tick' });
  b.take(Kind.ACK);
  b.send(10, 0, 2, 2);
  b.step({ type: 'tick' });
  const acked = b.take(Kind.ACK, 10).flatMap((s) => decodeAck(s.body).channels);
  expect([b.core.logged(T(0), T(2)), acked]).toEqual([1, []]);
  expect(b.bodies(12)).toEqual([[1, 1]]);
  b.step({ type: 'clcOver', cluster: 0, sn: 2, record: clc(0, 2, [2, 0], cuts([0, 1], { 0: { sends: { 2: 1 } } })) });
  expect(b.news('force').at(-1)).toEqual({ type: 'force', from: 0, interval: 2 });
  b.forced(3, 2);
  expect(b.bodies(12)).toEqual([[2, 2]]);
});

test('S1, X7 after a CLC that is abandoned it has the interval before; over a broken connection it comes again', () => {
  const b = new Table();
  b.forced(2, 1);
  b.step({ type: 'clcBegins', cluster: 0, clc: { sn: 2, ended: [], starting: [] } });
  b.cut(0, 2, {});
  b.send(10, 0, 2, 1);
  b.attach(20, 0, { position, resume: true });
  b.step({ type: 'clcOver', cluster: 0, sn: 2, record: undefined });
  expect(b.bodies(12)).toEqual([]);
  b.send(20, 0, 2, 1);
  expect([b.news('force'), b.bodies(12)]).toEqual([[], [[1, 1]]]);
});

test('S2, X6 a CLC of another cluster is reported when everything from before its cut is durable here', () => {
  const b = new Table();
  b.autoSync = false;
  b.step({ type: 'clcBegins', cluster: 0, clc: { sn: 2, ended: [], starting: [T(1)] } });
  b.cut(0, 2, { 2: 1, 3: 1 });
  b.send(10, 0, 2, 1);
  expect(b.news('sent')).toEqual([]);
  b.send(10, 0, 3, 1);
  expect(b.news('sent')).toEqual([]);
  while (b.tickets.length > 0) b.step({ type: 'synced', ticket: b.tickets.shift()! });
  expect(b.news('sent')).toEqual([{ type: 'sent', cluster: 0, wave: 2 }]);
});

test('G11 what a cluster sent and undid is dropped, and its next incarnations send other messages in its place', () => {
  const b = new Table();
  b.send(10, 0, 2, 1);
  b.send(10, 0, 2, 2, 150);
  const alias = clc(0, 2, [2, 0], cuts([0, 1], { 0: { sends: { 2: 1 } } }), 1);
  b.step({ type: 'fence', task: T(0), incarnation: incarnation(1) });
  b.step({ type: 'sendersWentBack', rolled: [{ cluster: 0, to: 1, alias }] });
  expect(b.core.logged(T(0), T(2))).toBe(1);
  b.attach(20, 0, { position, inc: 1 });
  b.send(20, 0, 2, 2, 8, { inc: 1, fill: 77 });
  expect(b.news('force').at(-1)).toEqual({ type: 'force', from: 0, interval: 2 });
  b.forced(2, 2);
  expect(b.bodies(12)).toEqual([
    [1, 1],
    [2, 77],
  ]);
});

test('G11 a message that was received and is undone ends the job: better an error than a wrong answer', () => {
  const b = new Table();
  b.send(10, 0, 2, 1);
  b.forced(2, 1);
  b.step({ type: 'sendersWentBack', rolled: [{ cluster: 0, to: 1, alias: clc(0, 2, [2, 0], cuts([0, 1]), 1) }] });
  expect(b.news('failed')).toMatchObject([{ task: 2, error: { code: 'INTERNAL' } }]);
});

test('G8, G10 a new core gives again what its line lacks, and nothing of a dead interval', () => {
  const b = new Table();
  b.forced(2, 1);
  b.send(10, 0, 2, 1);
  b.send(10, 0, 2, 2, 150);
  b.send(10, 0, 2, 3);
  expect(b.core.logged(T(0), T(2))).toBe(3);
  // Cluster 0 has a CLC 2 behind message 2, goes back to it (4), and does not send message 3 again.
  const zero = [START[0], clc(0, 4, [4, 0], cuts([0, 1], { 0: { sends: { 2: 2 } } }), 2)];
  b.step({ type: 'clcBegins', cluster: 0, clc: { sn: 2, ended: [], starting: [T(1)] } });
  b.cut(0, 2, { 2: 3 });
  b.step({ type: 'clcOver', cluster: 0, sn: 2, record: clc(0, 2, [2, 0], cuts([0, 1], { 0: { sends: { 2: 3 } } })) });
  b.send(10, 0, 2, 4);
  const one = [clc(1, 3, [1, 3], cuts([2, 3], { 2: { receives: { 0: 1 } } }), 2)];
  for (const task of [2, 3]) b.logs.set(`t${task}`, []);
  b.goesBack();
  b.start(false);
  b.begins(now([zero, one], [{ cluster: 0, from: 2, until: 4 }]));
  expect(b.core.logged(T(0), T(2))).toBe(3);
  b.attach(32, 2, { position, inc: 1 });
  expect(b.bodies(32).map(([, fill]) => fill)).toEqual([2, 2, 2, 3]);
});

test('G12, X8 the log is trimmed, and a new core knows how many messages it had', () => {
  const b = new Table();
  b.forced(2, 1);
  for (const n of [1, 2, 3]) b.send(10, 0, 2, n);
  const one = clc(1, 4, [1, 4], cuts([2, 3], { 2: { receives: { 0: 3 } } }));
  b.step({ type: 'stableClcs', records: [START[0], one] });
  b.step({ type: 'tick' });
  expect(b.logs.get('x2')!.slice(0, 3)).toEqual([undefined, undefined, undefined]);
  for (const task of [2, 3]) b.logs.set(`t${task}`, []);
  b.goesBack();
  b.start(false);
  b.begins(now([[START[0]], [one]]));
  expect(b.core.logged(T(0), T(2))).toBe(3);
});

test('a message that the log has lost ends the job', () => {
  const b = new Table();
  for (const n of [1, 2, 3]) b.send(10, 0, 2, n);
  b.logs.get('x2')![1] = undefined;
  b.goesBack();
  b.start(false);
  b.begins(now(START.map((c) => [c])));
  expect(b.news('failed')).toMatchObject([{ task: 2, error: { code: 'DAMAGED_LOG' } }]);
});
