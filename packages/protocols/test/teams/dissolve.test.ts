/** A team that is dissolved: positions, counts at the Channel Memory, images, what is carried over (T9). */
import {
  Flag,
  IMAGE_FORMAT,
  Kind,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  encodeTeamBlock,
  teamHeads,
  imageIdOf,
  incarnation,
  jobId,
  taskId,
  type ImageId,
  type Manifest,
  type TaskId,
} from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import {
  CarriedOver,
  protocols,
  replayOf,
  zeroLine,
  type Dissolved,
  type Holdings,
  type ImageRecord,
} from '../../src/index.ts';
import { positionInTeam, replayInTeam, startInTeam } from '../../src/pessimistic/teams/position.ts';
import { endsAt, regrouped } from '../../src/pessimistic/teams/regroup.ts';
import { Bench, T, closed } from '../data-path/bench.ts';
import { ServerStage } from '../checkpoint-server-stage.ts';

const [A, B, C, D] = [taskId(0), taskId(1), taskId(2), taskId(3)];
const image = { arrivals: 4, determinants: 3, openPolls: 1, sends: [[C, 2]] as [TaskId, number][] };
/** Task A has sent two messages to C, three to its teammate B and one to itself. */
const position = positionInTeam({
  replay: { prologue: zeroLine(), image, held: [4] },
  local: [
    [A, 1],
    [B, 3],
  ],
  received: [[B, 2]],
  wave: 7,
});
const ENDS: Holdings = { arrivals: 9, consumed: 4, determinants: 3, held: [[1, 3]], sent: [[C, 2]] };

describe('endsAt: "an image with nothing after it"', () => {
  it('returns what was sent to teammates, where the logs end at the image', () => {
    expect(endsAt(position, [ENDS, { ...ENDS, held: [], sent: [] }])).toEqual([
      [A, 1],
      [B, 3],
    ]);
    expect(endsAt(positionInTeam(startInTeam()), [])).toEqual([]);
  });

  it.each<[string, Partial<Holdings>]>([
    ['a message more', { sent: [[C, 3]] }],
    ['a message to somebody else', { sent: [[D, 1]] }],
    ['a receiver that has ended', { sent: [[C, Number.MAX_SAFE_INTEGER]] }],
    ['a determinant more', { held: [[1, 4]] }],
    ['evidence of a determinant more', { determinants: 4 }],
    ['evidence of an arrival more', { consumed: 5 }],
  ])('is undefined with %s', (_, more) => {
    expect(endsAt(position, [ENDS, { ...ENDS, ...more }])).toBeUndefined();
  });

  it('a prologue is no obstacle: each rank repeats it alone', () => {
    const prologue = { ...zeroLine(), arrivals: 1 };
    const at = positionInTeam({ replay: { prologue, image, held: [] }, local: [[B, 3]], received: [], wave: 1 });
    expect(endsAt(at, [ENDS])).toEqual([[B, 3]]);
  });
});

it('a script alone, and in another team: what it had sent before checkpoint.open counts in its prologue', () => {
  const prologue = { ...zeroLine(), determinants: 2, sends: [[C, 1]] as [TaskId, number][] };
  const script = positionInTeam({
    replay: { prologue, image, held: [] },
    local: [
      [A, 1],
      [B, 3],
    ],
    received: [],
    opened: [[B, 2]],
    wave: 7,
  });
  const alone = regrouped(script, undefined);
  const sends = [[C, 1], [B, 2]]; // prettier-ignore
  expect(replayOf(alone).prologue).toEqual({ ...prologue, sends });
  const again = replayInTeam(regrouped(alone, [A, C], { wave: 9, gate: 4 }));
  expect([again.replay.prologue.sends, again.opened]).toEqual([[[B, 2]], [[C, 1]]]);
  expect([again.replay.image.sends, again.local]).toEqual([[[B, 3]], [[C, 2], [A, 1]]]); // prettier-ignore
});

it('alone: what was sent to teammates counts as what was sent to others', () => {
  const sends = [...image.sends, [A, 1], [B, 3]];
  expect(replayOf(regrouped(position, undefined))).toEqual({
    prologue: zeroLine(),
    image: { ...image, sends },
    held: [4],
  });
  expect(regrouped(regrouped(position, undefined), undefined)).toEqual(regrouped(position, undefined));
});

it('regrouped: with the teammates that stay, what was sent to them stays apart', () => {
  const at = regrouped(position, [A, B]);
  expect(at).toEqual(position);
  const four = positionInTeam({ ...replayInTeam(position), local: [...replayInTeam(position).local, [D, 5]] });
  expect(replayInTeam(regrouped(four, [A, B]))).toMatchObject({
    replay: { image: { ...image, sends: [...image.sends, [D, 5]] } },
    local: [
      [A, 1],
      [B, 3],
    ],
    received: [[B, 2]],
    wave: 7,
  });
  expect(regrouped(regrouped(four, [A, B]), [A, B])).toEqual(regrouped(four, [A, B]));
});

it('carried over: each message once, in the order of its channel; what is left goes into the next image', () => {
  const c = new CarriedOver([
    {
      place: 3,
      channels: new Map([
        [A, ['a1', 'a2']],
        [B, ['b1']],
      ]),
    },
    { place: 5, channels: new Map([[A, ['a3']]]) },
  ]);
  expect([c.due(2), c.due(3)]).toEqual([false, true]);
  expect(c.take()).toEqual({ src: A, message: 'a1' });
  const [first, second] = c.state;
  expect([first!.place, ...first!.channels]).toEqual([3, [A, ['a2']], [B, ['b1']]]);
  expect([second!.place, ...second!.channels]).toEqual([5, [A, ['a3']]]);
  expect([c.take(), c.take()].map((x) => x?.message)).toEqual(['a2', 'b1']);
  expect([c.due(4), c.due(5), c.take()?.message]).toEqual([false, true, 'a3']);
  expect([c.empty, c.take()]).toEqual([true, undefined]);
});

describe('the Channel Memory: "the image\'s counts raise the CM\'s counts of channels that were local"', () => {
  const TEAM = [T(0), T(1)];
  const dissolved: Dissolved[] = [
    {
      team: TEAM,
      from: [
        { task: T(0), sends: [[T(1), 3]] },
        { task: T(1), sends: [] },
      ],
    },
  ];
  const ended = (): Bench => {
    const b = new Bench();
    b.step({ type: 'teams', teams: [TEAM] });
    b.step({ type: 'teams', teams: [], dissolved });
    return b;
  };

  it('the next message has the number behind them, and the answer to a fence has them', () => {
    const b = ended();
    expect(b.core.progress(T(0)).logs.sent).toEqual([[1, 3]]);
    b.attach(10, 0, { inc: 1 });
    b.attach(11, 1, { inc: 1 });
    b.send(10, 0, 1, 4, 8, { inc: 1 });
    expect(b.core.logged(T(0), T(1))).toBe(4);
  });

  it('they outlive the process, and are heard of as often as the server starts', () => {
    const b = ended();
    b.start(false);
    expect(b.core.logged(T(0), T(1))).toBe(3);
    b.step({ type: 'teams', teams: [], dissolved });
    b.step({ type: 'teams', teams: [], dissolved });
    expect(b.logs.get('t1')).toHaveLength(1);
    // A core that recovers gets them with its options.
    const c = new Bench({ dissolved });
    expect(c.core.logged(T(0), T(1))).toBe(3);
  });

  it('nobody brings determinants of a task that is not its teammate any more', () => {
    const b = ended();
    b.attach(10, 0, { inc: 1 });
    const h = {
      ...emptyHeader(Kind.DETERMINANTS),
      src: T(0),
      dst: T(0),
      incarnation: incarnation(1),
      flags: Flag.TEAM,
    };
    const block = encodeDeterminants({ first: 0, consumed: 0, openPolls: 0, entries: [] });
    b.frame(10, encodeFrame(h, new Uint8Array(0), encodeTeamBlock(TEAM.map((task) => ({ task, block })))));
    expect(closed(b)).toBe(true);
  });

  it.each<[string, readonly (readonly TaskId[])[]]>([
    ['alone', []],
    ['in a smaller team', [[T(0), T(3)]]],
  ])('a receiver still gives back what the team had sent, of which the sender is %s now', (_, teams) => {
    const b = new Bench({ dissolved, teams });
    b.start(false);
    b.attach(12, 2, { received: 1, resume: true });
    const block = encodeDeterminants({ first: 0, consumed: 0, openPolls: 0, entries: [] });
    const sections = teamHeads(TEAM.map((task) => ({ task, block })));
    const h = { ...emptyHeader(Kind.RESUPPLY), src: T(0), dst: T(2), channel: 1, arrival: 1, size: 8 };
    b.frame(12, encodeFrame({ ...h, flags: Flag.LAST | Flag.TEAM }, new Uint8Array(8), sections));
    expect(closed(b)).toBe(false);
    expect(b.core.logged(T(0), T(2))).toBe(1);
  });
});

describe('the Checkpoint Server: "older sets are void"', () => {
  const J = jobId('job000000000');
  const idOf = (task: number, serial: number): ImageId => imageIdOf(J, taskId(task), incarnation(0), serial);
  const at = (wave: number) =>
    positionInTeam({
      replay: { prologue: zeroLine(), image: { ...image, sends: [] }, held: [] },
      local: [[B, wave]],
      received: [],
      wave,
    });
  const record = (task: number, serial: number): ImageRecord => ({
    image: idOf(task, serial),
    serial,
    incarnation: incarnation(0),
    position: at(serial),
    bytes: 1,
    sentBytes: 1,
    at: 0,
    count: serial,
  });
  const TEAM = [taskId(0), taskId(1)];
  const dissolved: Dissolved[] = [
    { team: TEAM, from: TEAM.map((task) => ({ task, image: idOf(task, 2), sends: [] })) },
  ];

  function stage(serials = [1, 2]): ServerStage {
    const s = new ServerStage();
    const entries = TEAM.flatMap((t) => serials.map((n) => [`image/${J}/${t}/00000000${n}`, record(t, n)] as const));
    s.send('recover', { entries });
    s.send('openJob', {
      job: J,
      protocol: 'pessimistic',
      size: 4,
      channelMemories: 1,
      programs: [{ count: 4, hash: 'f'.repeat(64) }],
      acting: TEAM.map((t) => [t, incarnation(0)] as const),
    });
    return s;
  }

  it('the images of the commit are those of lone tasks; the others go', () => {
    const s = stage();
    s.send('teams', { job: J, teams: [TEAM] });
    s.send('teams', { job: J, teams: [], dissolved });
    expect(s.core.imagesOf(J, taskId(0)).map((i) => [i.serial, i.position])).toEqual([
      [2, regrouped(at(2), undefined)],
    ]);
    expect(s.of('discard').flatMap((e) => e.images)).toEqual([idOf(0, 1), idOf(1, 1)]);
    s.send('teams', { job: J, teams: [], dissolved });
    expect(s.of('discard')).toHaveLength(2);
  });

  it('the images of the commit are the first set of a smaller team, which has its own from then on', () => {
    const parted = [{ ...dissolved[0]!, groups: [TEAM] }];
    const s = stage();
    s.send('teams', { job: J, teams: [TEAM] });
    s.send('teams', { job: J, teams: [TEAM], dissolved: parted });
    expect(s.of('discard').flatMap((e) => e.images)).toEqual([idOf(0, 1), idOf(1, 1)]);
    expect(s.core.imagesOf(J, taskId(0)).map((i) => i.serial)).toEqual([2]);
    for (const t of TEAM) s.send('restart', { job: J, task: t, incarnation: incarnation(3) });
    for (const t of TEAM) s.send('checked', { image: idOf(t, 2), sound: true });
    expect(s.of('chosen')).toMatchObject(TEAM.map((task) => ({ task, image: idOf(task, 2), position: at(2) })));
  });

  it('…which a restart of the server finds, and takes for no others', () => {
    const parted = [{ ...dissolved[0]!, groups: [TEAM] }];
    const s = stage([1, 2, 3]);
    s.send('teams', { job: J, teams: [TEAM], dissolved: parted });
    expect(s.core.imagesOf(J, taskId(0)).map((i) => i.serial)).toEqual([2, 3]);
    // One of them: the smaller team was dissolved as well.
    const again = { team: TEAM, from: TEAM.map((task) => ({ task, image: idOf(task, 3), sends: [] })) };
    s.send('teams', { job: J, teams: [], dissolved: [...parted, again] });
    expect(s.core.imagesOf(J, taskId(0)).map((i) => i.serial)).toEqual([3]);
  });

  it('a member restarts alone, with its image of the commit; without it, from nowhere', () => {
    const s = stage();
    s.send('teams', { job: J, teams: [], dissolved });
    s.send('restart', { job: J, task: taskId(1), incarnation: incarnation(3) });
    s.send('checked', { image: idOf(1, 2), sound: true });
    expect(s.of('chosen')).toMatchObject([{ task: 1, image: idOf(1, 2), position: regrouped(at(2), undefined) }]);
    s.send('restart', { job: J, task: taskId(1), incarnation: incarnation(4) });
    s.send('checked', { image: idOf(1, 2), sound: false });
    expect(s.of('lost')).toMatchObject([{ task: 1, error: { code: 'LOST_CHECKPOINTS' } }]);
  });

  it('an image that a member takes alone is one more of its task', () => {
    const s = stage();
    s.send('teams', { job: J, teams: [], dissolved });
    const manifest: Manifest = {
      format: IMAGE_FORMAT,
      image: idOf(0, 3),
      job: J,
      task: taskId(0),
      incarnation: incarnation(0),
      program: 'f'.repeat(64),
      serial: 3,
      position: regrouped(at(3), undefined),
      sections: [{ name: 'heap', bytes: 1 }],
      pages: [''],
      bytes: 1,
    };
    s.send('offer', { link: 'l', job: J, task: taskId(0), incarnation: incarnation(0), manifest });
    expect(s.of('reply').filter((e) => e.reply === 'refused')).toEqual([]);
    expect(protocols.pessimistic.images.setOf!(manifest.position)).toBeUndefined();
  });
});
