/** Rules of teams that a random job rarely needs: each in the shortest scenario that does. */
import { decodeDeterminants, incarnation, taskId, type Determinant, type Position } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { LIVE, type Report } from '../../src/endpoint.ts';
import { protocols } from '../../src/index.ts';
import { replayOf, zeroLine } from '../../src/pessimistic/position.ts';
import { TeamEndpoint } from '../../src/pessimistic/teams/endpoint.ts';
import { ImageCut } from '../../src/pessimistic/teams/image-cut.ts';
import { positionInTeam, replayInTeam, startInTeam } from '../../src/pessimistic/teams/position.ts';
import { PrologueCopies, RepeatedPrologue } from '../../src/pessimistic/teams/prologue.ts';
import { regrouped } from '../../src/pessimistic/teams/regroup.ts';
import { atHere, isCut, nextRound, offeredRound, type Caller } from '../../src/pessimistic/teams/rounds.ts';
import { TeamLeaves } from '../../src/pessimistic/teams/leaves.ts';
import { TeamWave } from '../../src/comm/team-wave.ts';
import { TeamSets } from '../../src/images/team-sets.ts';

const A = taskId(0);
const B = taskId(1);
const C = taskId(2);
const local = (src: number): Determinant => ({ type: 'local', src: taskId(src), count: 1, after: 0 });
const report = (stamp: number, first: number, ...entries: Determinant[]): Report => ({
  stamp,
  block: { first, consumed: 0, openPolls: 0, entries },
});

const start = {
  incarnation: incarnation(0),
  limits: [],
  prologue: [],
  determinants: [],
  openPolls: 0,
  consumed: 0,
};

describe('T5: the comm worker "reads the counter, then all reports of the team up to this number"', () => {
  it('and keeps those beyond for the next frame', () => {
    const leaves = new TeamLeaves([A, B], 1);
    leaves.begin(A, 0);
    leaves.begin(B, 0);
    leaves.takes(1);
    leaves.reads(B, []); // B's report 2 is not written yet
    leaves.reads(A, [report(1, 0, local(1)), report(3, 1, local(1))]); // A has consumed what B published after report 2
    const entries = (): number[] => leaves.sections(A).map(({ block }) => decodeDeterminants(block).entries.length);
    expect(entries()).toEqual([1, 0]);
    leaves.takes(3);
    leaves.reads(B, [report(2, 0, local(0))]);
    leaves.reads(A, []);
    expect(entries()).toEqual([2, 1]);
  });

  it('and no frame leaves before all members have been read', () => {
    const leaves = new TeamLeaves([A, B], 1);
    leaves.takes(1);
    leaves.reads(A, []);
    expect(() => leaves.sections(A)).toThrow('before all reports');
  });

  it('in a replay the evidence is the position of the replay, not the end of what is known', () => {
    const leaves = new TeamLeaves([A, B], 1);
    leaves.begin(A, 7);
    leaves.takes(1);
    const block = { first: 2, consumed: 5, openPolls: 3, entries: [] };
    leaves.reads(A, [{ stamp: 1, block }]);
    leaves.reads(B, []);
    expect(decodeDeterminants(leaves.sections(A)[0]!.block)).toEqual({
      first: 2,
      consumed: 5,
      openPolls: 3,
      entries: [],
    });
  });
});

describe('T6', () => {
  it('a ring created later begins with its writer’s last marker', () => {
    const writer = new ImageCut<string>([A, B], 0);
    expect(writer.cut(1)).toEqual([]);
    const reader = new ImageCut<string>([A, B], 0);
    const marker = writer.writes(B);
    expect([marker, writer.writes(B)]).toEqual([1, 0]);
    reader.stage(A, { marker });
    reader.stage(A, { message: 'sent behind the image' });
    expect(reader.head(A)).toBeUndefined();
    expect(reader.met).toBe(1);
    reader.cut(1);
    expect([...reader.state.values()].flat()).toEqual([]);
    expect(reader.head(A)).toBe('sent behind the image');
  });

  it('channel state is what stands before the marker, staged or not', () => {
    const reader = new ImageCut<string>([A, B], 0);
    reader.stage(A, { message: 'staged' });
    reader.cut(1);
    reader.noRing(B);
    reader.stage(A, { message: 'in the ring' });
    expect(reader.closed).toBe(false);
    reader.stage(A, { marker: 1 });
    reader.stage(A, { message: 'behind' });
    expect(reader.closed).toBe(true);
    expect(reader.state.get(A)).toEqual(['staged', 'in the ring']);
  });

  it('an image of a wave that was dropped counts for no other', () => {
    const wave = new TeamWave([A, B], 0);
    expect(wave.begin(false)).toBe(1);
    wave.over(1);
    expect(wave.begin(false)).toBe(2);
    expect(wave.imaged(A, 1, { rings: new Set() })).toEqual([]);
    wave.over(1); // a member declines the marker of wave 1, which it has met late
    expect(wave.underWay).toBe(true);
    wave.imaged(A, 2, { rings: new Set() });
    wave.imaged(B, 2, { rings: new Set() });
    expect([wave.closed(A, 1), wave.closed(A, 2), wave.closed(B, 2)]).toEqual([false, false, true]);
  });

  it('a damaged image spoils its set; the logs were trimmed to the oldest that is kept', () => {
    const sets = new TeamSets([A, B], 2);
    const cover = (wave: number, t: typeof A, exited = new Set<typeof A>()) => {
      sets.covered(wave, t);
      const set = sets.take(wave, exited);
      if (set) sets.add(set);
      return set?.wave;
    };
    for (const t of [A, B]) sets.stored(1, t, `1${t}`);
    sets.stored(2, A, '2', [B]);
    expect([cover(1, A), cover(1, B)]).toEqual([undefined, 1]);
    // T12: B had ended when wave 2 began. It is done there once its EXIT is durable.
    expect([cover(2, A), cover(2, A, new Set([B]))]).toEqual([undefined, 2]);
    expect([sets.oldest?.wave, sets.newest?.wave, sets.newest?.done]).toEqual([1, 2, [B]]);
    expect(sets.damaged(2)).toBe(false);
    expect(sets.newest?.wave).toBe(1);
    expect(sets.damaged(1)).toBe(true);
  });
});

describe('T6 for scripts: "the n-th `checkpoint.here` of every teammate … forms a candidate set"', () => {
  it('the images of a wave are taken at a call that nobody has reached; who is past it declines', () => {
    const callers = (...calls: number[]): Caller[] => calls.map((n) => ({ calls: n, waits: false }));
    const at = nextRound(callers(4, 7, 6), 0);
    expect([7, at, at + 1].map((call) => atHere(call, at))).toEqual(['later', 'image', 'decline']);
    expect(nextRound(callers(4, 7), 2)).toBeGreaterThan(at);
  });

  it('…or at one at which all that have reached it wait for their image', () => {
    const [slow, waits, past] = [
      { calls: 4, waits: false },
      { calls: 7, waits: true },
      { calls: 7, waits: false },
    ];
    expect([offeredRound([slow, waits]), nextRound([slow, waits], 2)]).toEqual([7, 7]);
    expect(offeredRound([slow, waits, past])).toBeUndefined();
    expect(nextRound([slow, waits, past], 0)).toBe(8);
    // Who waits at a call that another one has left behind gets none there.
    expect(offeredRound([{ calls: 4, waits: true }, past])).toBeUndefined();
  });

  it('a set is one if nobody has received more than was sent: "received from s ≤ sent by s"', () => {
    const endpoint = (task: typeof A): TeamEndpoint =>
      new TeamEndpoint(task, 3, startInTeam(), start, { members: [A, B] });
    const [a, b] = [endpoint(A), endpoint(B)];
    const images = (): Map<typeof A, Position> => new Map([a, b].map((e) => [e.task, e.position([])]));
    a.beginSend(B);
    expect(isCut(images())).toBe(true);
    const early = a.position([]);
    a.beginSend(B);
    for (const n of [1, 2]) b.consumeLocal(A, n);
    expect(isCut(images())).toBe(true);
    expect(isCut(images().set(A, early))).toBe(false);
    // It has ended, and has no image in the set.
    expect(isCut(new Map([[B, b.position([])]]))).toBe(true);
  });

  it('a prologue is repeated with copies, without a message to a teammate, and with one to itself', () => {
    const team = { members: [A, B] };
    const first = new TeamEndpoint(A, 3, startInTeam(), start, team);
    const copies = new PrologueCopies<string>();
    expect([first.beginSend(B), first.beginSend(A)]).toEqual([1, 1]);
    for (const [src, copy] of [
      [B, 'from B'],
      [A, 'from A'],
    ] as const) {
      first.consumeLocal(src, 1);
      copies.consumed(src, 8, () => copy);
    }
    const block = first.report(() => 1)!.block;
    first.openPrologue();
    copies.opened();
    first.consumeLocal(B, 2);
    copies.consumed(B, 8, () => 'behind open');
    expect([...copies.all!]).toEqual([[B, ['from B']], [A, ['from A']]]); // prettier-ignore
    first.beginSend(B);
    const more = first.report(() => 2)!.block;
    const at = replayInTeam(first.position([]));

    const again = new TeamEndpoint(A, 3, at, { ...start, prologue: block.entries, determinants: [] }, team);
    expect([again.beginSend(B), again.beginSend(A)]).toEqual([0, 0]);
    for (const src of [B, A]) {
      expect(again.choice()).toEqual({ from: 'ring', src });
      again.consumeLocal(src, 1);
    }
    again.jump(first.snapshot());
    expect([again.beginSend(B), again.received(B), more.entries.length]).toEqual([3, 2, 1]);
  });

  it('a script that has left its team repeats its prologue alone, with copies; then it is as any other', () => {
    const first = new TeamEndpoint(A, 3, startInTeam(), start, { members: [A, B] });
    first.beginSend(B);
    first.consume(1, C);
    first.pollBegin();
    first.consumeLocal(B, 1);
    first.pollEnd();
    first.consumeLocal(B, 2);
    const { entries } = first.report(() => 1)!.block;
    first.openPrologue();
    first.beginSend(B);
    const at = regrouped(positionInTeam({ ...replayInTeam(first.position([])), wave: 1 }), undefined);

    const again = protocols.pessimistic.rank(
      A,
      3,
      at,
      { ...start, limits: [[B, 2]], prologue: entries, determinants: [] },
      undefined,
    );
    const copies = new RepeatedPrologue(new Map([[B, [1, 2]]]), again, (n) => n);
    expect([again.local, again.beginSend(B), copies.take()]).toEqual([undefined, 0, undefined]);
    again.consume(1, C);
    expect([again.pollBegin(), copies.take()?.message]).toEqual([1, 1]);
    again.pollEnd();
    expect(copies.take()).toEqual({ src: B, message: 2 });
    again.jump(first.snapshot());
    expect([again.prologueEvents, copies.take(), again.pollBegin(), again.beginSend(B)]).toEqual([
      undefined,
      undefined,
      LIVE,
      3,
    ]);
    expect(replayOf(again.position([])).prologue).toEqual(replayOf(at).prologue);
  });

  it('what lies in the channels of an image comes behind the prologue, and what has no copy is an error', () => {
    const line = { ...zeroLine(), determinants: 1 };
    const at = { ...startInTeam(), replay: { prologue: line, image: line, held: [] }, gate: 0 };
    const team = { members: [A, C], carried: [[B, 2, 1, 0]] } as const;
    const script = new TeamEndpoint(A, 3, at, { ...start, prologue: [local(B)] }, team);
    expect(script.choice()).toEqual({ from: 'ring', src: B });
    expect(() => new RepeatedPrologue(new Map(), script, Number).take()).toThrow(
      /no copy of the next message of task 1/,
    );
    script.consumeLocal(B, 1);
    expect(script.choice()).toEqual({ from: 'log' });
    script.jump();
    expect(script.choice()).toEqual({ from: 'carried', src: B });
  });

  it('what is too much is not kept, and there are no images', () => {
    const copies = new PrologueCopies<string>(undefined, 200);
    copies.consumed(A, 100, () => 'a');
    expect(copies.all?.size).toBe(1);
    copies.consumed(A, 100, () => 'b');
    expect([copies.all, copies.records]).toEqual([undefined, false]);
  });
});

describe('T9', () => {
  const team = { members: [A, B], carried: [[B, 1, 2, 0]] } as const;

  it('what was consumed of a regrouping counts in an image that lies at the start of all logs', () => {
    const before = new TeamEndpoint(A, 3, startInTeam(), start, team);
    before.consumeCarried(B, 1);
    const at = replayInTeam(before.position([]));
    expect(at.replay).toEqual(startInTeam().replay);
    const after = new TeamEndpoint(A, 3, at, start, { ...team, carried: before.carried() });
    after.jump(before.snapshot());
    expect(after.choice()).toEqual({ from: 'carried', src: B });
    after.consumeCarried(B, 2);
    expect([after.received(B), after.isNext(B, 3), after.choice()]).toEqual([2, true, { from: 'any' }]);
  });

  it('the log up to there, what is carried over, then anything', () => {
    const LOG = { from: 'log' };
    const at = { ...startInTeam(), gate: 2 };
    const first = new TeamEndpoint(A, 3, at, start, { members: [A, B], carried: [[B, 4, 1, 1]] });
    expect([first.choice(), first.isNext(B, 5)]).toEqual([LOG, false]);
    first.consume(1, C);
    expect(first.choice()).toEqual({ from: 'carried', src: B });
    // Its image lies before what is carried over, and behind an arrival.
    const image = replayInTeam(first.position([]));
    for (const ep of [first, new TeamEndpoint(A, 3, image, start, { members: [A, B], carried: first.carried() })]) {
      ep.jump(first.snapshot());
      ep.consumeCarried(B, 4);
      expect([ep.choice(), ep.pollBegin(), ep.choice(), ep.isNext(B, 5)]).toEqual([LOG, LIVE, LOG, false]);
      ep.pollEnd();
      ep.consume(2, C);
      expect([ep.choice(), ep.isNext(B, 5), ep.isNext(B, 6)]).toEqual([{ from: 'any' }, true, false]);
    }
  });

  it('what was consumed of a sender that was no teammate is not known', () => {
    const ep = new TeamEndpoint(A, 3, { ...startInTeam(), gate: 0 }, start, { members: [A, B] });
    expect([ep.isNext(B, 7), ep.received(B)]).toEqual([true, 0]);
    ep.consumeLocal(B, 7);
    expect([ep.isNext(B, 7), ep.isNext(B, 8), ep.received(B)]).toEqual([false, true, 7]);
  });
});
