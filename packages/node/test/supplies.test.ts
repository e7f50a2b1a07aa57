/** Images of a team in a job with parity: all of a set stay with their node, or all go to the server (C19). */
import { protocols } from '@mayfly/protocols';
import { taskId, type Assignment } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { Supplies } from '../src/comm/supplies.ts';
import type { Rank } from '../src/comm/rank.ts';

const TEAM = [0, 1, 2].map(taskId);
/** Task 2 has ended. */
const position = protocols.pessimistic.teams!(TEAM, 1).inWave(protocols.pessimistic.recovery.start, 3, [taskId(2)]);

interface Offer {
  readonly type: string;
  readonly manifest: { readonly task: number; readonly image: string };
  readonly near?: boolean;
}

/** A node with the two members that run. */
function node() {
  const sent: Offer[] = [];
  const kept: { manifest: { image: string }; parity: string }[] = [];
  const nothing = (): void => undefined;
  const socket = {
    bufferedAmount: 0,
    send: (m: string) => sent.push(JSON.parse(m) as Offer),
    close: nothing,
    onopen: nothing,
    onmessage: (_: { data: string }) => undefined as void,
  };
  const ranks = new Map(
    TEAM.slice(0, 2).map((task) => {
      const assignment = {
        job: 'job000000000',
        task,
        incarnation: 0,
        program: { hash: 'p' },
        team: TEAM,
        wholeEvery: 4,
      };
      const rank = {
        assignment: assignment as unknown as Assignment,
        kept: new Set(),
        sinceWhole: 0,
        wholeNext: false,
      };
      return [task, rank as unknown as Rank];
    }),
  );
  const seams = {
    now: () => 0,
    openSocket: () => socket,
    after: () => nothing,
    soon: (run: () => void) => setImmediate(run),
  };
  const daemon = { post: (m: (typeof kept)[number]) => kept.push(m) };
  const supplies = new Supplies('http://server', seams as never, daemon as never, ranks, nothing);
  const takes = (task: number): Promise<void> =>
    supplies.image(
      ranks.get(taskId(task))!,
      { serial: 1, position, sections: [] },
      new Map([['a', new Uint8Array(10).fill(1 + task)]]),
    );
  /** The images that the server is offered, the next one when the one before is stored. */
  const offers = (): [number, boolean][] => {
    socket.onopen();
    for (let i = 0; i < 2; i++) {
      const image = sent.at(-1)?.manifest.image;
      socket.onmessage({ data: JSON.stringify({ type: 'stored', image }) });
    }
    return sent.flatMap((m) => (m.type === 'offer' ? [[m.manifest.task, m.near ?? false]] : []));
  };
  return { supplies, ranks, kept, takes, offers };
}

it.each([
  ['all stay', true, true],
  ['all go to the server where one cannot stay', false, false],
])('%s', async (_, holds, near) => {
  const { supplies, kept, takes, offers } = node();
  for (const t of [0, 1]) await takes(t);
  expect(kept.map((k) => k.parity)).toEqual(['waits', 'waits']);
  supplies.protectedBy(taskId(0), kept[0]!.manifest.image as never, true);
  expect(offers(), 'nothing goes before it is known of all').toEqual([]);
  supplies.protectedBy(taskId(1), kept[1]!.manifest.image as never, holds);
  expect(offers()).toEqual([
    [0, near],
    [1, near],
  ]);
});

it('all go to the server where somebody waits for one of them', async () => {
  const { supplies, ranks, kept, takes, offers } = node();
  await takes(0);
  ranks.get(taskId(1))!.wholeNext = true;
  await takes(1);
  expect(kept.map((k) => k.parity)).toEqual(['waits', 'whole']);
  supplies.protectedBy(taskId(0), kept[0]!.manifest.image as never, true);
  expect(offers()).toEqual([
    [0, false],
    [1, false],
  ]);
});
