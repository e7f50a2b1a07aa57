/** Teams at the real Channel Memory: what comes with a frame, what is kept of it, and a loss of power (T5, T14). */
import {
  Flag,
  Kind,
  decodeDeterminants,
  decodeTeamBlock,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  encodeTeamBlock,
  incarnation,
  readFrame,
  taskId,
  type Determinant,
} from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { positionOf, protocols } from '../../src/index.ts';
import { Bench, T, closed, codes, fresh, line } from '../data-path/bench.ts';

const local = (src: number): Determinant => ({ type: 'local', src: taskId(src), count: 1, after: 0 });
const { log } = protocols.pessimistic;

/** Message `channel` of task 0 to task 2, with so many determinants of each member. */
function frame(
  channel: number,
  counts: readonly (readonly [task: number, count: number])[],
  size = 8,
  inc = 0,
): Uint8Array {
  const h = { ...emptyHeader(Kind.DATA), src: T(0), dst: T(2), channel, size, incarnation: incarnation(inc) };
  h.flags = Flag.LAST | Flag.TEAM;
  const sections = counts.map(([task, count]) => ({
    task: T(task),
    block: encodeDeterminants({
      first: 0,
      consumed: 0,
      openPolls: 0,
      entries: Array.from({ length: count }, () => local(1 - task)),
    }),
  }));
  return encodeFrame(h, new Uint8Array(size).fill(channel), encodeTeamBlock(sections));
}

const TEAMS = [[T(0), T(1)]];

function team(policy = log): Bench {
  const b = new Bench({}, policy);
  b.step({ type: 'teams', teams: TEAMS });
  for (const t of [0, 1, 2]) b.attach(10 + t, t);
  for (const kind of [Kind.ATTACHED, Kind.DETERMINANTS, Kind.ACK]) b.take(kind);
  return b;
}

/** [task, determinants] of each section of the arrivals that were pushed, from the bytes as they left. */
const pushed = (b: Bench): [number, number][][] =>
  b.effects.flatMap((e) => {
    if (e.type !== 'send') return [];
    const f = readFrame(e.bytes, new DataView(e.bytes.buffer, e.bytes.byteOffset, e.bytes.byteLength), 0);
    if (f.header.kind !== Kind.ARRIVAL) return [];
    expect(f.body.every((x) => x === f.header.channel)).toBe(true);
    return [
      decodeTeamBlock(f.determinants).map(({ task, block }): [number, number] => {
        const { first, entries } = decodeDeterminants(block);
        expect(entries).toEqual([]);
        return [task, first];
      }),
    ];
  });
const held = (b: Bench, task: number, inc: number): unknown => {
  b.attach(20 + task, task, { inc });
  return (
    b
      .take(Kind.ATTACHED, 20 + task)
      .at(-1)!
      .json() as { determinants: unknown }
  ).determinants;
};

describe('a frame of a team', () => {
  it('"the CM logs them first": determinants of every member, each under its own task', () => {
    const b = team();
    b.frame(
      10,
      frame(1, [
        [0, 2],
        [1, 3],
      ]),
    );
    const order = b.effects.flatMap((e) => (e.type === 'append' ? [e.stream] : [])).slice(-3);
    expect(order).toEqual(['d0', 'd1', 't2']);
    expect([held(b, 0, 1), held(b, 1, 1)]).toEqual([[[0, 2]], [[0, 3]]]);
  });

  it('is acknowledged to every member', () => {
    const b = team();
    b.frame(
      10,
      frame(1, [
        [0, 2],
        [1, 3],
      ]),
    );
    b.step({ type: 'flush' });
    expect(b.take(Kind.ACK).map((f) => f.conn)).toEqual(expect.arrayContaining([10, 11]));
  });

  it('keeps the heads of all sections when it is pushed: live, from the log, and as an envelope', () => {
    const b = team();
    b.frame(
      10,
      frame(1, [
        [0, 2],
        [1, 3],
      ]),
    );
    expect(pushed(b)).toEqual([
      [
        [0, 2],
        [1, 3],
      ],
    ]);
    b.effects = [];
    b.attach(22, 2, { inc: 1 });
    const again = b.sent.filter((f) => f.conn === 22 && f.header.kind === Kind.ARRIVAL);
    expect(again).toHaveLength(1);
    expect(again[0]!.header.detBytes).toBe(2 * 32);
    expect([...again[0]!.body]).toEqual(new Array(8).fill(1));
    b.control(22, Kind.CREDIT, 2, { incarnation: incarnation(1), arrival: 1, size: 1024, flags: Flag.ENVELOPE_ONLY });
    b.frame(
      10,
      frame(2, [
        [0, 2],
        [1, 3],
      ]),
    );
    b.step({ type: 'flush' });
    const envelope = b.sent.findLast((f) => f.header.kind === Kind.ARRIVAL)!;
    expect(envelope.header).toMatchObject({
      arrival: 2,
      flags: Flag.LAST | Flag.NO_BODY | Flag.TEAM,
      detBytes: 2 * 32,
    });
  });

  it.each([
    [
      'of a task outside the team',
      [
        [0, 1],
        [2, 1],
      ],
    ],
    [
      'of a task that does not exist',
      [
        [0, 1],
        [9, 1],
      ],
    ],
    [
      'whose first section is not its own',
      [
        [1, 1],
        [0, 1],
      ],
    ],
  ] as const)('is refused with determinants %s, and nothing is logged', (_, counts) => {
    const b = team();
    const before = b.effects.length;
    b.frame(10, frame(1, counts));
    expect(b.effects.slice(before).some((e) => e.type === 'append')).toBe(false);
    expect(closed(b)).toBe(true);
  });

  it('is refused of a task that has no team', () => {
    const b = new Bench();
    b.attach(10, 0);
    b.frame(
      10,
      frame(1, [
        [0, 1],
        [1, 1],
      ]),
    );
    expect(b.effects.findLast((e) => e.type === 'close')).toMatchObject({
      error: { message: 'task 0 has no team' },
    });
  });
});

it('what is trimmed leaves the evidence of the whole team behind (C7)', () => {
  const b = team();
  b.frame(
    10,
    frame(1, [
      [0, 2],
      [1, 3],
    ]),
  );
  const position = positionOf({ ...fresh, image: line({ arrivals: 1 }) });
  b.step({ type: 'trim', task: T(2), position });
  b.step({ type: 'flush' });
  expect(b.logs.get('t2')!.filter((r) => r)).toHaveLength(1); // a BASE record
  for (const name of ['d0', 'd1']) b.logs.set(name, []);
  b.start(false);
  expect([0, 1].map((t) => b.core.progress(T(t)).logs.determinants)).toEqual([2, 3]);
});

describe('after a loss of power', () => {
  /** The message survives with its receiver and is given back; what the server had of it is gone. */
  function lost(policy = log, told = false): Bench {
    const b = team(policy);
    b.frame(
      10,
      frame(1, [
        [0, 0],
        [1, 3],
      ]),
    );
    const arrival = b.effects.flatMap((e) =>
      e.type === 'send' && e.bytes[0] === Kind.ARRIVAL ? [e.bytes.slice()] : [],
    )[0]!;
    for (const name of ['d0', 'd1', 't2'])
      b.logs.set(
        name,
        b.logs.get(name)!.filter((r) => r![0] === 65),
      );
    b.start(false);
    b.step({ type: 'teams', teams: TEAMS });
    b.sent = [];
    // Without the teammate's determinants its next incarnation is answered, before or after the receiver reports.
    if (told) b.attach(31, 1, { inc: 1 });
    b.attach(32, 2, { received: 1, resume: true });
    arrival[0] = Kind.RESUPPLY;
    b.frame(32, arrival);
    return b;
  }

  it('the record of a message gives back the determinants of the whole team', () => {
    const b = team();
    b.frame(
      10,
      frame(1, [
        [0, 2],
        [1, 3],
      ]),
    );
    for (const name of ['d0', 'd1']) b.logs.set(name, []);
    b.start(false);
    b.sent = [];
    expect([held(b, 0, 1), held(b, 1, 1)]).toEqual([[[0, 2]], [[0, 3]]]);
  });

  it('a record of determinants has those of the teammates too: what is lost of them comes back', () => {
    const b = team();
    b.frame(
      10,
      frame(1, [
        [0, 2],
        [1, 3],
      ]),
    );
    for (const name of ['d1', 't2']) b.logs.set(name, []);
    b.start(false);
    b.step({ type: 'teams', teams: TEAMS });
    const { determinants, held: left } = b.core.progress(T(1)).logs;
    expect([determinants, left]).toEqual([3, [[0, 3]]]);
    b.sent = [];
    b.attach(20, 0, { inc: 1 });
    const [own] = b.take(Kind.DETERMINANTS, 20);
    expect(own!.header).toMatchObject({ flags: 0, src: 0, incarnation: 1 });
  });

  it('a receiver may give back what it knows of a teammate, as long as nobody was answered without it', () => {
    expect(codes(lost())).toEqual([]);
  });

  it('"a receiver that gives back more of any member of the sender’s team than its incarnation was told is refused"', () => {
    expect(codes(lost(log, true))).toEqual(['OUT_OF_SEQUENCE']);
  });

  it('members counted singly: nobody notices', () => {
    const singly = {
      ...log,
      givenBack: ((s, source, d, e) => source.task === 0 && log.givenBack(s, source, d, e)) as typeof log.givenBack,
    };
    expect(codes(lost(singly, true))).toEqual([]);
  });
});

describe('a member that has ended and runs nowhere (D25), after the end of the process', () => {
  const toTask2 = (b: Bench): number[] => {
    b.frame(10, frame(2, [[0, 0]]));
    b.step({ type: 'flush' });
    return b.effects.flatMap((e) => (e.type === 'append' && e.stream === 't2' ? [e.lsn] : []));
  };
  const restarted = (): Bench => {
    const b = team();
    b.frame(10, frame(1, [[0, 0]]));
    b.start(false);
    b.step({ type: 'teams', teams: TEAMS });
    b.attach(10, 0, { resume: true, received: 0 });
    b.take(Kind.ATTACHED);
    b.effects.length = 0;
    return b;
  };

  it('takes no messages while its comm worker may still report', () => {
    expect(toTask2(restarted())).toEqual([]);
  });

  it('takes them once the dispatcher says that none will, and asks for what it dropped', () => {
    const b = restarted();
    toTask2(b);
    b.step({ type: 'unattended', task: T(2) });
    expect(b.take(Kind.RESEND, 10).map((f) => f.header.channel)).toEqual([1]);
    expect(toTask2(b)).toHaveLength(1);
  });

  it('waits for a comm worker that is there', () => {
    const b = restarted();
    b.attach(12, 2, { resume: true, received: 1 });
    b.step({ type: 'unattended', task: T(2) });
    expect(toTask2(b)).toEqual([]);
  });
});
