/** What the word of a node is worth: D5 and D11 of the dispatcher, and the one end of a job (end.ts). */
import { describe, expect, it } from 'vitest';
import type { TaskId } from '@mayfly/wire';
import { positionOf, zeroLine } from '../../src/index.ts';
import { held, I, image, J, job, N, NOTHING, Stage, T } from './stage.ts';

const running = (): Stage => {
  const s = new Stage({ trustNewcomers: true });
  s.come(1);
  s.send('submit', { job: job(1) });
  s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'started' });
  return s;
};

describe('D11: the word of a node ends no job', () => {
  const lostLog = {
    connection: 'c1',
    job: J(),
    task: T(0),
    incarnation: I(0),
    event: 'refused',
    error: { code: 'LOST_LOG', message: 'arrivals 4 to 6' },
  } as const;

  it('D11: a node that says LOST_LOG where the logs lost nothing loses its rank, and the job goes on', () => {
    const s = running();
    s.logs.set(T(0), { ...NOTHING, arrivals: 3, consumed: 3 });
    s.send('report', lostLog);
    expect(s.view()).toMatchObject({ state: 'running' });
    expect(s.registry.get(`fault/${J()}/000000`)).toMatchObject({
      task: 0,
      incarnation: 0,
      cause: 'refused',
      hearsay: true,
    });
    expect(s.assigned().at(-1)).toMatch(/^0\.1@/);
  });

  it.each([
    ['arrivals', { arrivals: 3, consumed: 6 }, 'arrivals 4 to 6'],
    [
      'determinants',
      {
        determinants: 5,
        held: [
          [0, 2],
          [3, 5],
        ],
      },
      'determinant 2',
    ],
  ] as const)(
    'what the logs lost of its %s, no other incarnation will find: its restart finds that out, and ends the ' +
      'job with LOST_LOG',
    (_, logs, message) => {
      const s = running();
      s.logs.set(T(0), { ...NOTHING, ...logs });
      s.send('report', lostLog);
      expect(s.view()).toMatchObject({
        state: 'failed',
        error: { code: 'LOST_LOG', message: `rank 0: the logs lost ${message}, whose effects are known elsewhere` },
      });
      expect(s.assigned().some((a) => a.startsWith('0.1'))).toBe(false);
    },
  );

  it('an image whose messages the logs lost is no way back: LOST_LOG', () => {
    const s = running();
    const position = positionOf({
      prologue: zeroLine(),
      image: { ...zeroLine(), sends: [[T(1), 2]] as [TaskId, number][] },
      held: [],
    });
    s.hold.add('fenceCs');
    s.logs.set(T(0), { ...NOTHING, sent: [[T(1), 1]] });
    s.send('report', { ...lostLog, event: 'crashed' });
    s.send('imageChosen', { job: J(), task: T(0), incarnation: I(1), image: image(0, 1).image, position });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'LOST_LOG' } });
  });

  it(
    'an incarnation that a Channel Memory has ended is lost on the word of the server alone, and its node is ' +
      'told to stop',
    () => {
      const s = running();
      const e = {
        job: J(),
        task: T(0),
        incarnation: I(0),
        error: { code: 'OUT_OF_SEQUENCE', message: 'message 7 after 4' },
      };
      s.send('refused', e);
      expect(s.registry.get(`fault/${J()}/000000`)).toMatchObject({ task: 0, cause: 'refused' });
      expect(s.registry.get(`fault/${J()}/000000`)).not.toHaveProperty('hearsay');
      expect(s.of('revoke').at(-1)).toMatchObject({ task: 0, incarnation: 0, error: { code: 'OUT_OF_SEQUENCE' } });
      const before = s.assigned();
      s.send('refused', e); // of an incarnation that acts no more
      expect(s.assigned()).toEqual(before);
      expect(s.of('revoke')).toHaveLength(1);
    },
  );
});

describe('D5: what is not the acting incarnation changes nothing, and is told to stop', () => {
  /** Task 0 acts as incarnation 1 on node 2; node 1 woke up and still has incarnation 0. */
  const woken = (): Stage => {
    const s = running();
    s.come(2);
    s.send('disconnected', { connection: 'c1' });
    s.pass(3500, { c2: [] });
    s.come(1, 1, { connection: 'c1b', claimed: N(1), holds: [held(0, 0)] });
    s.effects.length = 0;
    return s;
  };
  const zombie = { connection: 'c1b', job: J(), task: T(0), incarnation: I(0) };

  it.each(['started', 'recovered'] as const)(
    'a zombie that reports late that it has %s is revoked, and nobody has recovered',
    (event) => {
      const s = woken();
      s.send('report', { ...zombie, event });
      expect(s.of('revoke')).toMatchObject([
        {
          node: N(1),
          task: 0,
          incarnation: 0,
          error: { code: 'FENCED', message: 'Incarnation 1 of this rank is running.' },
        },
      ]);
      expect(s.dispatcher.core.find(J(), T(0))).toMatchObject({ phase: 'assigned', incarnation: 1 });
      expect(s.view().faults[0]!.recoveredAfterMs).toBeUndefined();
    },
  );

  it.each(['crashed', 'refused'] as const)(
    'a zombie that reports late that it has %s has dropped it: nothing is lost, nobody is told',
    (event) => {
      const s = woken();
      s.send('report', { ...zombie, event, error: { code: 'LOST_LOG', message: 'late' } });
      expect(s.of('revoke')).toEqual([]);
      expect(s.of('persist')).toEqual([]);
      expect(s.view()).toMatchObject({ state: 'running', faults: [{ incarnation: 0 }] });
    },
  );

  it('a late answer of a fence, of an image or of a commit is for an incarnation that acts no more', () => {
    const s = running();
    s.come(2);
    s.hold.add('fenceCs').add('fenceCm');
    s.send('kill', { job: J(), task: T(0) }); // incarnation 1 is raised, and waits for its image
    s.send('goodbye', { connection: 'c1', reason: 'closed' });
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    s.come(3);
    expect(s.record(0).incarnation).toBe(2);
    s.send('imageChosen', { job: J(), task: T(0), incarnation: I(1) });
    for (const cm of [0, 1])
      s.send('fencedCm', { job: J(), task: T(0), incarnation: I(1), cm, sends: 0, consumed: 0, logs: NOTHING });
    s.send('imageLost', { job: J(), task: T(0), incarnation: I(1), error: { code: 'LOST_LOG', message: 'late' } });
    expect(s.assigned()).toEqual(['0.0@1']);
    expect(s.view().state).toBe('running');
    s.release();
    expect(s.assigned()).toEqual(['0.0@1', '0.2@3']);
  });

  it('who speaks of a job that has ended, or is paused, is told so', () => {
    const s = running();
    s.send('pause', { job: J(), waitMs: 0 });
    s.pass(500, { c1: [s.beat(0, 0)] });
    expect(s.of('revoke').at(-1)!.error).toMatchObject({ code: 'FENCED', message: 'The job is paused.' });
    s.send('cancel', { job: J() });
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'recovered' });
    expect(s.of('revoke').at(-1)!.error).toMatchObject({ code: 'UNKNOWN_JOB' });
  });
});

describe('a job ends once', () => {
  it('what comes while its end is made durable does not change how it ended, or when', () => {
    const s = running();
    s.hold.add('persist');
    s.send('cancel', { job: J() });
    s.now += 500;
    s.effects.length = 0;
    s.send('jobFailed', { job: J(), error: { code: 'DISK_FULL', message: 'later' } });
    s.send('deadlock', { job: J(), report: 'later' });
    s.send('imageLost', { job: J(), task: T(0), incarnation: I(0), error: { code: 'LOST_LOG', message: 'later' } });
    s.exit(0, { code: 3, abort: { code: 'ABORTED', message: 'later' } });
    s.send('refused', {
      job: J(),
      task: T(0),
      incarnation: I(0),
      error: { code: 'OUT_OF_SEQUENCE', message: 'later' },
    });
    expect(s.of('persist')).toEqual([]);
    s.release();
    expect(s.view()).toMatchObject({ state: 'cancelled', error: { code: 'CANCELLED' } });
    expect(s.registry.get(`job/${J()}`)).toMatchObject({ state: 'cancelled', endedAt: s.now - 500 });
    expect(s.of('jobEnded')).toHaveLength(1);
  });

  it('nor does what comes when it has ended', () => {
    const s = running();
    s.exit(0);
    const record = structuredClone(s.registry.get(`job/${J()}`));
    s.now += 500;
    s.effects.length = 0;
    s.send('cancel', { job: J() });
    s.send('jobFailed', { job: J(), error: { code: 'DISK_FULL', message: 'later' } });
    s.exit(0, { code: 1 });
    expect(s.effects).toEqual([]);
    expect(s.registry.get(`job/${J()}`)).toEqual(record);
    expect(record).toMatchObject({ state: 'done', exitCode: 0 });
  });
});

describe('D12: a deadlock that only nodes speak of', () => {
  /** Ranks 0 and 1 on nodes 1 and 2, each after some messages. */
  const two = (over = {}, nodes = [1, 2]): Stage => {
    const s = new Stage();
    for (const n of nodes) s.come(n, 2 / nodes.length);
    s.send('submit', { job: job(2, over) });
    if (nodes.length === 2) beats(s, 0, [1, 2]);
    return s;
  };
  /** Rank 0 on the first of these nodes, rank 1 on the second. */
  const beats = (s: Stage, inc: number, on: number[], arrivals = 3): void =>
    on.forEach(
      (n, task) =>
        void s.send('heartbeat', {
          connection: `c${n}`,
          tasks: [s.beat(task, inc, { state: 'waiting', call: 'MPI_Recv', arrivals, sends: 2 })],
        }),
    );

  it('ends no job by itself: those who wait start elsewhere, and their nodes are told to stop', () => {
    const s = two();
    s.send('deadlock', { job: J(), report: 'all wait' });
    expect(s.view().state).toBe('running');
    expect(s.assigned()).toEqual(['0.0@1', '1.0@2', '0.1@2', '1.1@1']);
    expect(s.of('revoke')).toHaveLength(2);
    expect(s.view().faults).toMatchObject([
      { task: 0, cause: 'doubted' },
      { task: 1, cause: 'doubted' },
    ]);
  });

  it('is believed when others come to wait at the same place', () => {
    const s = two();
    s.send('deadlock', { job: J(), report: 'all wait' });
    beats(s, 1, [2, 1]);
    s.send('deadlock', { job: J(), report: 'all wait, again' });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK', message: 'all wait, again' } });
  });

  it(
    'is doubted again where the logs have moved on meanwhile: somebody had lied; what only nodes say of it ' +
      'does not count',
    () => {
      const s = two();
      s.send('deadlock', { job: J(), report: 'all wait' });
      beats(s, 1, [2, 1], 4);
      s.send('deadlock', { job: J(), report: 'all wait elsewhere' });
      expect(s.view().state).toBe('running');
      beats(s, 2, [1, 2], 4);
      s.send('heartbeat', {
        connection: 'c1',
        tasks: [s.beat(0, 2, { state: 'waiting', call: 'MPI_Probe', peer: T(1), arrivals: 4, sends: 2 })],
      });
      s.send('deadlock', { job: J(), report: 'the same in other words' });
      expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
    },
  );

  it('does not count as a crash of the program', () => {
    const s = two();
    for (let n = 1; n <= 8; n++) {
      s.send('deadlock', { job: J(), report: 'all wait' });
      beats(s, n, n % 2 === 1 ? [2, 1] : [1, 2], 3 + n);
    }
    expect(s.view().state).toBe('running');
  });

  it.each([
    ['in a room, whose nodes the owner knows', { room: 'blue' }],
    ['with the protocol none, which cannot ask again', { protocol: 'none' as const }],
  ])('counts at once %s', (_, over) => {
    const s = new Stage();
    for (const n of [1, 2]) s.come(n, 1, 'room' in over ? { room: over.room } : {});
    s.send('submit', { job: job(2, over) });
    beats(s, 0, [1, 2]);
    s.send('deadlock', { job: J(), report: 'all wait' });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
  });

  it('counts at once where nobody else can be asked', () => {
    const s = two({}, [1]);
    s.send('heartbeat', {
      connection: 'c1',
      tasks: [
        s.beat(0, 0, { state: 'waiting', call: 'MPI_Recv' }),
        s.beat(1, 0, { state: 'waiting', call: 'MPI_Recv' }),
      ],
    });
    s.send('deadlock', { job: J(), report: 'all wait' });
    expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'DEADLOCK' } });
  });
});

it('arrivals that a heartbeat claims, and the log does not have, are no progress', () => {
  const s = running();
  for (let n = 0; n < 3; n++) {
    expect(s.view().state).toBe('running');
    s.send('heartbeat', { connection: 'c1', tasks: [s.beat(0, n, { arrivals: 1000 * (n + 1) })] });
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(n), event: 'crashed' });
  }
  expect(s.view()).toMatchObject({ state: 'failed', error: { code: 'KEEPS_CRASHING' } });
});

it('who gets a rank, and who loses one, is shown', () => {
  const s = new Stage();
  s.come(1);
  const shown = (what: () => void): number => {
    s.effects.length = 0;
    what();
    return s.of('nodesChanged').length;
  };
  expect(shown(() => s.send('submit', { job: job(1) }))).toBeGreaterThan(0);
  expect(shown(() => s.exit(0))).toBeGreaterThan(0);
});

it('an image is wanted until one comes that is newer than those there were', () => {
  const s = running();
  s.send('image', image(0, 3));
  s.send('checkpoint', { job: J(), task: T(0) });
  s.send('image', image(0, 3)); // said again
  s.effects.length = 0;
  s.come(2);
  s.send('kill', { job: J(), task: T(0) });
  s.send('report', { connection: 'c2', job: J(), task: T(0), incarnation: I(1), event: 'started' });
  expect(s.of('checkpoint').map((c) => c.node)).toEqual([N(2)]);
});

it(
  'a node that says it has the image of a rank which just died there does not get the rank again while another ' +
    'is free',
  () => {
    const s = running();
    s.come(2);
    const i = image(0, 1);
    s.images.set(`${J()}/0`, i);
    s.send('image', { job: J(), task: T(0), image: i.image, serial: 1 }); // node 1 has it on its disk
    s.send('report', { connection: 'c1', job: J(), task: T(0), incarnation: I(0), event: 'crashed' });
    expect(s.assigned()).toEqual(['0.0@1', '0.1@2']);
  },
);
