/** A team at the real comm core, in short scenarios; whole jobs are in job.test.ts. */
import {
  Flag,
  Kind,
  WORLD,
  WorldMode,
  decodeDeterminants,
  decodeTeamBlock,
  emptyHeader,
  encodeAck,
  encodeFrame,
  incarnation,
  readFrames,
  taskId,
  type Frame,
  type TaskId,
} from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { Comm, protocols, type CommEffect, type CommEvent } from '../../src/index.ts';
import { teams } from '../../src/pessimistic/teams/commd.ts';
import type { Reports } from '../../src/comm/reports.ts';

const [A, B, C] = [taskId(0), taskId(1), taskId(2)];
const text = new TextEncoder();
const { commd, recovery } = protocols.pessimistic;

/** Tasks 0 and 1 are a team, at two Channel Memories; task 2 is elsewhere, at home at the first. */
class Desk {
  readonly comm = new Comm({ size: 3, channelMemories: 2, policy: commd, teams });
  #effects: CommEffect[] = [];
  #stamp = 0;

  constructor(start: readonly TaskId[] = [A, B]) {
    for (const cm of [0, 1]) this.step({ type: 'connected', cm });
    for (const task of start) this.start(task);
  }

  step(e: CommEvent): void {
    this.#effects.push(...this.comm.step(e));
  }

  start(task: TaskId, ended: readonly TaskId[] = []): void {
    const life = { incarnation: incarnation(0), capability: 'c', nonce: 'nonce-nonce', position: recovery.start };
    this.step({ type: 'start', task, ...life, team: [A, B], ended });
  }

  attached(cm: number, task: TaskId, held: readonly (readonly [number, number])[] = []): void {
    const body = text.encode(JSON.stringify({ received: [], arrivals: 0, determinants: held }));
    this.step({ type: 'received', cm, bytes: encodeFrame({ ...emptyHeader(Kind.ATTACHED), dst: task }, body) });
  }

  begin(): this {
    for (const cm of [0, 1]) for (const task of [A, B]) this.attached(cm, task);
    this.#effects = [];
    return this;
  }

  /** Determinants [first, first + count) of a task are reported. */
  reports(task: TaskId, first = 0, count = 0): Reports {
    if (count === 0) return { upTo: this.#stamp, of: [] };
    const entries = Array.from({ length: count }, (_, i) => ({ type: 'clock', ms: i }) as const);
    const block = { first, consumed: 0, openPolls: 0, entries };
    return { upTo: ++this.#stamp, of: [[task, [{ stamp: this.#stamp, block }]]] };
  }

  message(src: TaskId, dst: TaskId, channel: number, reports = this.reports(src), mode = 0): void {
    const h = { ...emptyHeader(Kind.DATA), src, dst, channel, size: 8, mode, flags: Flag.LAST };
    this.step({ type: 'ring', task: src, bytes: encodeFrame(h, new Uint8Array(8)), reports });
  }

  ack(cm: number, task: TaskId, appended: number, synced: number, dst?: TaskId, channel = 1): void {
    const channels = dst === undefined ? [] : [{ dst, appended: channel, synced: channel }];
    const ack = { determinantsFirst: 0, determinantsAppended: appended, determinantsSynced: synced };
    const body = encodeAck({ ...ack, arrivalsSynced: 0, channels });
    this.step({ type: 'received', cm, bytes: encodeFrame({ ...emptyHeader(Kind.ACK), dst: task }, body) });
  }

  take(): CommEffect[] {
    return this.#effects.splice(0);
  }

  /** Frames of messages and determinants that have left, with the determinants of each section. */
  left(): { kind: number; cm: number; src: number; sections: [number, number][] }[] {
    return this.take().flatMap((e) => (e.type === 'send' ? readFrames(e.bytes).flatMap((f) => seen(e.cm, f)) : []));
  }
}

function seen(cm: number, { header, determinants }: Frame): ReturnType<Desk['left']> {
  if (header.kind !== Kind.DATA && (header.kind !== Kind.DETERMINANTS || header.flags & Flag.SYNC)) return [];
  const sections = decodeTeamBlock(determinants).map(({ task, block }): [number, number] => [
    task,
    decodeDeterminants(block).entries.length,
  ]);
  return [{ kind: header.kind, cm, src: header.src, sections }];
}

/** A frame of task 0 to Channel Memory 0, with so many determinants of each. */
const frame = (kind: number, a: number, b: number): unknown => ({
  kind,
  cm: 0,
  src: 0,
  sections: [
    [0, a],
    [1, b],
  ],
});

const types = (effects: readonly CommEffect[]): string[] =>
  effects.flatMap((e) => (e.type === 'send' ? [] : ['task' in e ? `${e.type} ${e.task}` : e.type]));

describe('T1', () => {
  it('no member begins before every Channel Memory has answered for all', () => {
    const d = new Desk();
    for (const cm of [0, 1]) d.attached(cm, A);
    d.attached(0, B);
    expect(types(d.take())).toEqual([]);
    d.attached(1, B);
    expect(types(d.take())).toEqual(['ready 0', 'ready 1']);
  });

  it('waits for a member that is prepared later', () => {
    const d = new Desk([A]);
    for (const cm of [0, 1]) d.attached(cm, A);
    expect(types(d.take())).toEqual([]);
    d.start(B);
    for (const cm of [0, 1]) d.attached(cm, B);
    expect(types(d.take())).toEqual(['ready 0', 'ready 1']);
  });

  it('does not wait for one that has ended; if that one comes all the same, it is refused, with the team', () => {
    const d = new Desk([]);
    d.start(A, [B]);
    for (const cm of [0, 1]) d.attached(cm, A);
    expect(types(d.take())).toEqual(['ready 0']);
    d.step({ type: 'wave', task: A, replaying: false });
    expect(types(d.take())).toEqual(['checkpoint 0']);
    d.start(B);
    expect(types(d.take())).toEqual(['revoked 0', 'refused 1']);
  });

  it('the end of one is the end of all', () => {
    const d = new Desk().begin();
    d.step({ type: 'stop', task: B });
    expect(types(d.take())).toEqual(['revoked 0']);
    d.message(A, C, 1);
    expect(d.left()).toEqual([]);
  });

  it('a refusal too', () => {
    const d = new Desk().begin();
    const body = text.encode(JSON.stringify({ code: 'CLONE', message: 'elsewhere' }));
    d.step({ type: 'received', cm: 0, bytes: encodeFrame({ ...emptyHeader(Kind.REFUSED), dst: A }, body) });
    expect(types(d.take())).toEqual(['revoked 1', 'refused 0']);
  });

  it('over a new connection nothing leaves before the answers for all, and then all that was lost of any member', () => {
    const d = new Desk().begin();
    d.message(A, C, 1, d.reports(B, 0, 3));
    expect(d.left()).toEqual([frame(Kind.DATA, 0, 3)]);
    d.ack(0, B, 3, 0);
    d.step({ type: 'disconnected', cm: 0 });
    d.step({ type: 'connected', cm: 0 });
    d.attached(0, A);
    d.message(A, C, 2);
    expect(d.left()).toEqual([]);
    d.attached(0, B);
    expect(d.left().map((f) => [f.kind, ...f.sections.flat()])).toEqual([
      [Kind.DETERMINANTS, 0, 0, 1, 3],
      [Kind.DATA, 0, 0, 1, 3],
      [Kind.DATA, 0, 0, 1, 3],
    ]);
  });
});

describe('T5', () => {
  it('frames come with reports', () => {
    const d = new Desk().begin();
    const bytes = encodeFrame({ ...emptyHeader(Kind.DATA), src: A, dst: C, channel: 1, flags: Flag.LAST });
    expect(() => {
      d.step({ type: 'ring', task: A, bytes });
    }).toThrow('without the reports');
  });

  it('many determinants leave without a message, once until something is acknowledged', () => {
    const d = new Desk().begin();
    d.step({ type: 'reports', task: A, reports: d.reports(A, 0, 600) });
    d.step({ type: 'reports', task: B, reports: d.reports(B, 0, 600) });
    expect(d.left()).toEqual([frame(Kind.DETERMINANTS, 600, 0)]);
    d.ack(0, A, 600, 0);
    d.step({ type: 'reports', task: A, reports: d.reports(A) });
    expect(d.left()).toEqual([frame(Kind.DETERMINANTS, 0, 600)]);
  });
});

describe('T12', () => {
  const exit = (d: Desk): void => {
    d.message(A, WORLD, 1, d.reports(B, 0, 2), WorldMode.EXIT);
  };

  it('EXIT waits for the determinants of teammates that were there, and for no later ones', () => {
    const d = new Desk().begin();
    exit(d);
    expect(d.left()).toEqual([frame(Kind.DETERMINANTS, 0, 2)]);
    d.step({ type: 'reports', task: B, reports: d.reports(B, 2, 1) });
    d.ack(0, B, 2, 0);
    expect(d.left()).toEqual([]);
    d.ack(0, B, 2, 2);
    expect(d.left()).toEqual([frame(Kind.DATA, 0, 0)]);
    d.ack(0, A, 0, 0, WORLD);
    expect(types(d.take())).toEqual(['finished 0']);
    d.step({ type: 'stop', task: A });
    expect(types(d.take())).toEqual([]);
  });

  it('a member that is over begins again with its team, once the others of the life before were stopped', () => {
    const d = new Desk().begin();
    d.step({ type: 'ended', task: A });
    expect(types(d.take())).toEqual(['finished 0']);
    d.step({ type: 'stop', task: B });
    d.start(A);
    d.start(B);
    for (const cm of [0, 1]) for (const task of [A, B]) d.attached(cm, task);
    expect(types(d.take())).toEqual(['ready 0', 'ready 1']);
  });

  it('a member whose EXIT is logged has no image in later waves, and is over', () => {
    const d = new Desk().begin();
    d.step({ type: 'ended', task: A });
    d.step({ type: 'wave', task: B, replaying: false });
    expect(types(d.take())).toEqual(['finished 0', 'checkpoint 1']);
    d.step({ type: 'image', task: B, position: recovery.start, wave: 1 });
    d.step({ type: 'closed', task: B, wave: 1 });
    expect(types(d.take())).toEqual(['image 1']);
  });
});

describe('T6', () => {
  const image = (d: Desk, task: TaskId, wave: number): void => {
    d.step({ type: 'image', task, position: recovery.start, wave });
  };
  const waves = (d: Desk): unknown[] =>
    d
      .take()
      .flatMap((e) => (e.type === 'image' ? [[e.task, (e.position?.at as { wave: number } | undefined)?.wave]] : []));

  it('images leave together, when all are closed, and one wave after the other', () => {
    const d = new Desk().begin();
    d.step({ type: 'wave', task: A, replaying: true });
    expect(d.take()).toEqual([]);
    d.step({ type: 'wave', task: A, replaying: false });
    expect(d.take()).toEqual([A, B].map((task) => ({ type: 'checkpoint', task, wave: 1 })));
    image(d, A, 1);
    d.step({ type: 'closed', task: A, wave: 1 });
    image(d, B, 1);
    expect(waves(d)).toEqual([]);
    d.step({ type: 'closed', task: B, wave: 1 });
    expect(waves(d)).toEqual([
      [0, 1],
      [1, 1],
    ]);
    d.step({ type: 'imageOver', task: A });
    d.step({ type: 'wave', task: A, replaying: false });
    expect(d.take()).toEqual([]);
    d.step({ type: 'imageOver', task: B });
    d.step({ type: 'wave', task: A, replaying: false });
    expect(types(d.take())).toEqual(['checkpoint 0', 'checkpoint 1']);
  });

  it('a member that declines drops the wave; an image of it means nothing later', () => {
    const d = new Desk().begin();
    d.step({ type: 'wave', task: A, replaying: false });
    image(d, A, 1);
    d.step({ type: 'declined', task: B, wave: 1 });
    expect(waves(d)).toEqual([[0, undefined]]);
    d.step({ type: 'wave', task: A, replaying: false });
    image(d, B, 1);
    expect(waves(d)).toEqual([[1, undefined]]);
    image(d, B, 2);
    image(d, A, 2);
    for (const task of [A, B]) d.step({ type: 'closed', task, wave: 2 });
    expect(waves(d)).toEqual([
      [1, 2],
      [0, 2],
    ]);
  });
});
