/** D30: ranks that are alone, and smaller teams, become one team where a node has room for all of them. */
import { describe, expect, it } from 'vitest';
import { andThen } from '../../src/contract/dissolved.ts';
import { regroupedAt, type Dissolved, type JobRecord, type JobSpec } from '../../src/index.ts';
import { positionOf, zeroLine } from '../../src/pessimistic/position.ts';
import { positionInTeam } from '../../src/pessimistic/teams/position.ts';
import { I, J, job, N, NOTHING, Stage, T } from './stage.ts';

const RANKS = [0, 1, 2];

/** Ranks 0 and 1 are a team on node 1, rank 2 is alone on node 2; node 4 has come, with three slots. */
function apart(over: Partial<JobSpec> = {}): Stage {
  parked.clear();
  const s = new Stage({ mergeAfterMs: 10_000 });
  s.come(1, 2);
  s.come(2, 1);
  s.send('submit', {
    job: job(3, { team: 3, mapBy: 'slot', program: { language: 'c', entry: 'm', hash: 'a' }, ...over }),
  });
  expect(s.assigned()).toEqual(['0.0@1', '1.0@1', '2.0@2']);
  beats(s);
  s.come(4, 3);
  for (const t of RANKS) {
    logs(s, t);
    s.send('image', { job: J(), task: T(t), image: `i${t}-0` as never, serial: 0 });
  }
  s.effects.length = 0;
  return s;
}
const logs = (s: Stage, t: number, sent = t === 2 ? 7 : 4): void =>
  void s.logs.set(T(t), { ...NOTHING, arrivals: 3 + t, sent: [[T(t === 2 ? 0 : 2), sent]] });
const beat = (s: Stage, t: number, inc: number, parked = false) => ({
  ...s.beat(t, inc),
  recovered: true,
  ...(parked && { parked }),
});
function beats(s: Stage, ms = 250, inc = 0, parked: readonly number[] = []): void {
  const of = (...tasks: number[]) => tasks.map((t) => beat(s, t, inc, parked.includes(t)));
  s.pass(ms, { c1: of(0, 1), c2: of(2), c4: [] });
}
const position = (t: number) =>
  t === 2
    ? positionOf({ prologue: zeroLine(), image: { ...zeroLine(), sends: [[T(0), 7]] }, held: [] })
    : positionInTeam({
        replay: { prologue: zeroLine(), image: { ...zeroLine(), sends: [[T(2), 4]] }, held: [] },
        local: [[T(1 - t), 5]],
        received: [],
        wave: 6,
      });
function image(s: Stage, t: number, serial = 1): void {
  const id = `i${t}-${serial}` as never;
  s.images.set(`${J()}/${t}`, { job: J(), task: T(t), image: id, serial });
  s.positions.set(T(t), position(t));
  s.send('image', { job: J(), task: T(t), image: id, serial });
  // What its node reports counts, not any image.
  s.send('heartbeat', {
    connection: t === 2 ? 'c2' : 'c1',
    tasks: (t === 2 ? [2] : [0, 1]).map((m) => beat(s, m, 0, parked.has(m) || m === t)),
  });
  parked.add(t);
}
const parked = new Set<number>();
const merges = (s: Stage) => s.of('teams').flatMap((e) => e.dissolved ?? []);

describe('T9: "Dissolve and merge at an image with nothing after it"', () => {
  it.each([
    ['', {}],
    [', of a job with parity', { parity: { checksums: 1, wholeEvery: 4 } }],
  ] as const)('last images of all, one fence, one commit; then the team begins with them%s', (_, over) => {
    const s = apart(over);
    beats(s, 9_000);
    expect(s.of('checkpoint')).toEqual([]);
    beats(s, 2_000);
    expect(s.of('checkpoint').map((e) => [e.connection, e.task, e.last])).toEqual([
      ['c1', 0, true],
      ['c2', 2, true],
    ]);
    for (const t of [0, 2]) image(s, t);
    expect(s.of('revoke')).toEqual([]);
    const faults = s.view().faults.length;
    image(s, 1);
    expect(s.of('revoke').map((e) => [e.task, e.incarnation])).toEqual(RANKS.map((t) => [t, I(0)]));
    const from = RANKS.map((t) => ({ task: t, image: `i${t}-1`, sends: [], arrivals: 3 + t }));
    const made = { team: RANKS, merged: [[0, 1]], groups: [RANKS], wave: 7, from };
    expect((s.registry.get(`job/${J()}`) as JobRecord).dissolved).toEqual([made]);
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [RANKS], dissolved: [made] });
    expect(s.of('assign').map((a) => [a.task, a.incarnation, a.node, a.image, String(a.team)])).toEqual(
      RANKS.map((t) => [t, I(2), N(4), `i${t}-1`, '0,1,2']),
    );
    // Collectives keep the teams that the job began with (T10).
    expect(s.of('assign')[0]!.teams).toEqual([[0, 1]]);
    expect(s.view().faults).toHaveLength(faults);
    expect(s.view().teamChanges).toMatchObject([{ what: 'merged', ranks: RANKS, teams: [RANKS] }]);
    // Everybody hears of it before a member is fenced as one of the team.
    const heard = s.effects.findIndex((e) => e.type === 'teams' && e.dissolved !== undefined);
    expect(s.effects.findIndex((e) => e.type === 'fenceCs' && e.incarnation === I(2))).toBeGreaterThan(heard);
    s.crash();
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [RANKS], dissolved: [made] });
  });

  it('they begin as they were where the logs have something behind an image', () => {
    const s = apart();
    logs(s, 2, 8);
    beats(s, 11_000);
    for (const t of RANKS) image(s, t);
    expect(merges(s)).toEqual([]);
    expect(s.assigned()).toEqual(['0.1@4', '1.1@4', '2.1@4']);
    expect(s.of('assign').map((a) => String(a.team))).toEqual(['0,1', '0,1', 'undefined']);
  });

  it('a last image that does not come: those that were asked restart, and are left alone for a while', () => {
    const s = apart();
    beats(s, 11_000);
    for (const t of [0, 1]) image(s, t);
    const faults = s.view().faults.length;
    beats(s, 20_000);
    expect(
      s
        .of('revoke')
        .slice(0, 3)
        .map((e) => e.task),
    ).toEqual(RANKS);
    expect(merges(s)).toEqual([]);
    expect(s.view().faults).toHaveLength(faults);
    s.pass(30_000, { c4: [beat(s, 0, 1), beat(s, 1, 1)], c1: [beat(s, 2, 1)], c2: [beat(s, 2, 1)] });
    expect(s.of('checkpoint')).toHaveLength(2);
  });

  it('the loss of one while they are fenced: all restart as they were', () => {
    const s = apart();
    beats(s, 11_000);
    s.hold.add('fenceCm');
    for (const t of RANKS) image(s, t);
    s.send('goodbye', { connection: 'c4', reason: 'closed' });
    for (let i = 0; i < 6; i++) beats(s);
    s.release();
    expect(merges(s)).toEqual([]);
    expect(
      s
        .of('assign')
        .map((a) => String(a.team))
        .sort(),
    ).toEqual(['0,1', '0,1', 'undefined']);
  });

  it('a server that was killed meanwhile knows nothing of it: who stands still restarts', () => {
    const s = apart();
    beats(s, 11_000);
    image(s, 2);
    s.crash();
    s.come(1, 2, { claimed: N(1), holds: [0, 1].map((t) => ({ job: J(), task: T(t), incarnation: I(0) })) });
    s.come(2, 1, { claimed: N(2), holds: [{ job: J(), task: T(2), incarnation: I(0) }] });
    s.effects.length = 0;
    beats(s, 29_000, 0, [2]);
    expect(s.of('revoke')).toEqual([]);
    beats(s, 2_000, 0, [2]);
    expect(s.of('revoke')[0]).toMatchObject({ task: 2, incarnation: 0 });
    expect(s.assigned()).toEqual(['2.1@2']);
  });

  it('scripts of several units stop at a call that none of them has made; of each the calls have to be known', () => {
    const s = apart({ program: { language: 'typescript', entry: 'm', hash: 'a' } });
    const pass = (ms: number, calls: (t: number) => number | undefined): void => {
      const of = (t: number) => {
        const n = calls(t);
        const b = beat(s, t, 0);
        return { ...b, activity: { ...b.activity, ...(n !== undefined && { checkpointCalls: n }) } };
      };
      for (let at = 0; at < ms; at += 250) s.pass(250, { c1: [of(0), of(1)], c2: [of(2)], c4: [] });
    };
    pass(15_000, (t) => (t === 2 ? undefined : 100));
    expect(s.of('checkpoint')).toEqual([]);
    // Rank 2 makes a call every 50 ms: a second later it has made 20 more.
    let now = 0;
    pass(11_000, (t) => (t === 2 ? 200 + 5 * now++ : 100));
    const asked = s.of('checkpoint');
    expect(asked.map((e) => [e.connection, e.task, e.last])).toEqual([
      ['c1', 0, true],
      ['c2', 2, true],
    ]);
    expect(asked[1]!.atCall).toBe(asked[0]!.atCall);
    expect(asked[0]!.atCall! - (200 + 5 * 40)).toBeGreaterThan(20);
    expect(asked[0]!.atCall! - (200 + 5 * now)).toBeLessThan(30);
  });

  it('not where ranks are to be spread, and not beyond the size of a team', () => {
    for (const over of [{ mapBy: 'node' as const }, { team: 2 }]) {
      const s = new Stage({ mergeAfterMs: 10_000 });
      s.come(1, 2);
      s.come(2, 1);
      const program = { language: 'c' as const, entry: 'm', hash: 'a' };
      s.send('submit', { job: job(3, { team: 3, mapBy: 'slot', program, ...over }) });
      s.come(4, 3);
      s.pass(
        15_000,
        Object.fromEntries(
          ['c1', 'c2', 'c4'].map((c, i) => [
            c,
            s
              .of('assign')
              .filter((a) => a.node === N([1, 2, 4][i]!))
              .map((a) => beat(s, a.task, 0)),
          ]),
        ),
      );
      expect(s.of('checkpoint')).toEqual([]);
    }
  });
});

it('an image that several regroupings began with: the place of the first, the gate of the last', () => {
  const from = (arrivals: number) => [{ task: T(0), image: 'i' as never, sends: [], arrivals }];
  const all = [
    { team: [T(0), T(1)], from: from(3) },
    { team: [T(0), T(1)], merged: [], groups: [[T(0), T(1)]], wave: 9, from: from(5) },
  ];
  expect(regroupedAt(all, T(0), 'i' as never)).toEqual({ place: 3, gate: 5, wave: 9 });
  expect(regroupedAt(all, T(0), 'j' as never)).toEqual({});
});

describe('the list of regroupings keeps', () => {
  const regrouping = (team: number[], image: string): Dissolved => ({
    team: team.map(T),
    from: team.map((t) => ({ task: T(t), image: `${image}${t}` as never, sends: [] })),
  });
  const after = (...all: Dissolved[]): Dissolved[] => all.reduce<Dissolved[]>(andThen, []);
  const first = regrouping([0, 1, 2], 'a');
  const second = regrouping([0, 1, 2], 'b');
  const third = regrouping([0, 1, 2], 'c');

  it('the first of each task and the last, however many there are', () => {
    expect(after(first, second, third)).toEqual([first, third]);
    expect(after(first, second, third, regrouping([0, 1, 2], 'd'))).toHaveLength(2);
    const other = regrouping([3, 4], 'a');
    expect(after(first, second, other, third)).toEqual([first, other, third]);
  });

  it('one of which a member has had no other image since', () => {
    const same = { ...third, from: third.from.map((f, i) => (i === 1 ? second.from[1]! : f)) };
    expect(after(first, second, same)).toEqual([first, second, same]);
  });

  it('one that alone names two of its members as teammates', () => {
    const [left, right] = [regrouping([0, 1], 'c'), regrouping([2, 3], 'c')];
    const whole = [regrouping([0, 1, 2, 3], 'a'), regrouping([0, 1, 2, 3], 'b')];
    expect(after(...whole, left, right)).toEqual([...whole, left, right]);
  });
});
