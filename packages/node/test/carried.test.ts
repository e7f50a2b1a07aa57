/** What a rank begins with after its team was dissolved (T9): the section of its image, and in which order. */
import { MalformedValue, encodeValue } from '@mayfly/mpi';
import { startInTeam, TeamEndpoint } from '@mayfly/protocols';
import { taskId, type TaskId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { Local } from '../src/local-frames.ts';
import { Carried } from '../src/rank/carried.ts';
import { channelsSection, readChannels, type ChannelState } from '../src/rank/channel-state.ts';
import type { DownFrames, Incoming } from '../src/rank/down-frames.ts';
import { Sources } from '../src/rank/sources.ts';
import { TeamLog } from '../src/rank/team-log.ts';
import { Teammates, type LocalMessage } from '../src/rank/teammates.ts';
import { createRankMemory, RankSide } from '../src/ring/index.ts';
import { createTeamMemory } from '../src/ring/team-memory.ts';

const [A, B] = [taskId(0), taskId(1)];
const message = (src: TaskId, channel: number, number: number, body?: Uint8Array): LocalMessage => ({
  number,
  src,
  channel,
  mode: 0,
  context: 0,
  tag: channel,
  word: 0,
  size: body?.length ?? 5,
  body,
});
const short = message(A, 4, -1, Uint8Array.of(1, 2));
const long = message(A, 5, -2);
const other = message(B, 9, -3, Uint8Array.of(3));

const read = (section: ReturnType<typeof channelsSection>): ChannelState => readChannels(sectionOf(section));
const sectionOf = ({ parts }: ReturnType<typeof channelsSection>): Uint8Array =>
  Uint8Array.from(parts.flatMap((p) => [...p]));
const carried = (): Carried =>
  new Carried(
    read(
      channelsSection({
        channels: new Map([
          [A, [short, long]],
          [B, [other]],
        ]),
        bodies: new Map([
          [-2, Uint8Array.of(5, 4, 3, 2, 1)],
          // Consumed before the image, and not looked for.
          [-7, Uint8Array.of(7)],
        ]),
      }),
    ),
  );

it('comes before everything that the server has delivered', () => {
  const arrived = [{ header: {}, body: undefined }] as unknown as Incoming[];
  const frames = { next: () => arrived.shift(), empty: false } as unknown as DownFrames;
  const sources = new Sources(
    frames,
    () => ({ ...other, number: 17 }),
    undefined,
    undefined,
    () => 0,
  );
  sources.carried = carried();
  expect(sources.nothing()).toBe(false);
  expect([1, 2, 3, 4].map(() => sources.next()?.number)).toEqual([-1, -2, -3, 17]);
});

it('a rank with something carried over does not wait', () => {
  const frames = { next: () => undefined, empty: true } as unknown as DownFrames;
  const sources = new Sources(
    frames,
    () => other,
    undefined,
    undefined,
    () => 0,
  );
  expect(sources.nothing()).toBe(true);
  sources.carried = carried();
  expect(sources.nothing()).toBe(false);
});

it('after so many arrivals, in a wait and for who asks whether something has come', () => {
  let n = 0;
  const frames = { next: () => (n < 3 ? ({ header: {} } as unknown as Incoming) : undefined), empty: false };
  const remote = (): LocalMessage => ({ ...other, number: ++n });
  const sources = new Sources(frames as unknown as DownFrames, remote, undefined, undefined, () => n);
  const left = [{ place: 1, channels: new Map([[B, [other]]]) }];
  sources.carried = new Carried({ channels: new Map([[A, [short]]]), bodies: new Map(), carried: left }, 2);
  expect([1, 2, 3, 4, 5].map(() => sources.next()?.number)).toEqual([1, -3, 2, -1, 3]);
});

it('long bodies are pulled once, also of what was consumed before', () => {
  const c = carried();
  const into = new Uint8Array(5);
  c.pull(-2, into);
  expect([...into]).toEqual([5, 4, 3, 2, 1]);
  const one = new Uint8Array(1);
  c.pull(-7, one);
  expect([...one]).toEqual([7]);
  expect(() => c.pull(-7, one)).toThrow('no message -7 of 1 bytes');
});

it('what is left goes into the next image', () => {
  const c = carried();
  c.take();
  c.pull(-7, new Uint8Array(1));
  const again = new Carried(read(c.section!));
  expect(again.take()).toMatchObject({ src: A, number: -2 });
  again.pull(-2, new Uint8Array(5));
  expect(again.take()).toMatchObject({ src: B, number: -3, body: Uint8Array.of(3) });
  expect(again.take()).toBeUndefined();
  expect(again.section).toBeUndefined();
});

it('a section of another format is refused', () => {
  expect(() => readChannels(encodeValue({ format: 3 }, 'channel state'))).toThrow(MalformedValue);
});

it('what is left of several regroupings keeps its places in an image', () => {
  const left = [{ place: 4, channels: new Map([[B, [other]]]) }];
  const c = new Carried({ channels: new Map([[A, [short]]]), bodies: new Map(), carried: left }, 9);
  const again = new Carried(read(c.section!), 20);
  expect([again.due(3), again.due(4), again.take()?.number]).toEqual([false, true, -3]);
  expect([again.due(8), again.due(9), again.take()?.number]).toEqual([false, true, -1]);
});

describe('with teammates that stay', () => {
  /** A, with teammate B; C was one. Its image had consumed eight messages of B and three of C. */
  const C = taskId(2);
  const ofC = [message(C, 4, -4, Uint8Array.of(4)), message(C, 5, -5)];
  const state: ChannelState = {
    channels: new Map([
      [B, [message(B, 9, -3, Uint8Array.of(3))]],
      [C, ofC],
    ]),
    bodies: new Map([[-5, Uint8Array.of(5, 4, 3, 2, 1)]]),
  };

  function rank(): { log: TeamLog; team: Teammates; sources: Sources; events: TeamEndpoint; written: Uint8Array[] } {
    const members = [A, B];
    const team = new Teammates({ members, memory: createTeamMemory(2, 0, true) }, A);
    const at = { ...startInTeam(), received: [[B, 8] as const, [C, 3] as const] };
    const start = { incarnation: 2, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 };
    const events = new TeamEndpoint(A, 3, at as never, start as never, { members });
    const written: Uint8Array[] = [];
    const side = new RankSide(createRankMemory(), undefined, team.bell);
    const log = new TeamLog(
      team,
      events,
      side,
      (h, body) => h.kind === Local.IMAGE && written.push(body.slice()),
      () => expect.fail('waits'),
    );
    const frames = { next: () => undefined, empty: true } as unknown as DownFrames;
    const sources = new Sources(
      frames,
      () => other,
      team,
      log,
      () => events.consumed,
    );
    sources.carried = log.restore(state);
    return { log, team, sources, events, written };
  }

  it('comes before what the others of the team have sent, and needs no record', () => {
    const { sources, events, team } = rank();
    expect(sources.nothing()).toBe(false);
    expect([sources.next()?.number, sources.next()?.number]).toEqual([-4, -5]);
    expect([events.received(C), events.pending]).toEqual([5, 0]);
    expect([sources.next()?.number, sources.next()]).toEqual([-3, undefined]);
    expect([events.received(B), events.pending]).toEqual([9, 1]);
    const body = new Uint8Array(5);
    team.pull(-5, body, () => expect.fail('waits'));
    expect([...body]).toEqual([5, 4, 3, 2, 1]);
  });

  it('L9: what is left of it goes into the image with what lies in the channels of the team', () => {
    const { log, team, sources, written } = rank();
    sources.next();
    log.imaged({ serial: 1, position: {} as never, wave: 1 });
    team.cut.noRing(B);
    // It goes on; its image has what was left then.
    sources.next();
    log.settle();
    const { channels, bodies, carried = [] } = readChannels(written.at(-1)!);
    const numbers = (of: ChannelState['channels']): number[] => [...of.values()].flat().map((m) => m.number);
    expect([numbers(channels), ...carried.map((b) => numbers(b.channels))]).toEqual([[-3], [-5]]);
    expect([...bodies.keys()]).toEqual([-5]);
  });
});
