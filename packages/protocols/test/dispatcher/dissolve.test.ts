/** Teams that are dissolved: when, and in which order (D28, T9). */
import { describe, expect, it } from 'vitest';
import type { ImageId } from '@mayfly/wire';
import { protocols, type Holdings, type JobRecord, type JobSpec } from '../../src/index.ts';
import { I, J, job, NOTHING, Stage, T } from './stage.ts';

const WASM = { program: { language: 'wasm', entry: 'main.wasm', hash: '0'.repeat(64) } } as const;

/** A team of three on node 1, which leaves. */
function left(
  slots: readonly number[],
  over: Partial<JobSpec> = {},
  before: (s: Stage) => void = () => undefined,
  s = new Stage(),
): Stage {
  slots.forEach((n, i) => s.come(i + 1, n));
  s.send('submit', { job: job(3, { team: 3, ...WASM, ...over }) });
  expect(s.assigned()).toEqual(['0.0@1', '1.0@1', '2.0@1']);
  before(s);
  s.send('goodbye', { connection: 'c1', reason: 'closed' });
  return s;
}
const WHOLE = ['0.1@2', '1.1@2', '2.1@2'];

describe('T9: "Dissolve and merge at an image with nothing after it"', () => {
  it('D28: where only several nodes have room, the ranks restart on them; the commit comes first', () => {
    const s = left([3, 2, 1]);
    expect(s.assigned().slice(3)).toEqual(['0.2@2', '1.2@2', '2.2@3']);
    const dissolved = [
      { team: [0, 1, 2], from: [0, 1, 2].map((task) => ({ task, sends: [], arrivals: 0 })), groups: [[0, 1]] },
    ];
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [[0, 1]], dissolved });
    expect((s.registry.get(`job/${J()}`) as JobRecord).dissolved).toEqual(dissolved);
    expect(s.view().teamChanges).toMatchObject([{ what: 'dissolved', ranks: [0, 1, 2], teams: [[0, 1]] }]);
    const heard = s.effects.findIndex((e) => e.type === 'teams' && e.dissolved !== undefined);
    const fenced = s.effects.findIndex((e) => e.type === 'fenceCs' && e.incarnation === 2);
    const committed = s.effects.findIndex(
      (e) => e.type === 'persist' && e.changes.some(([, v]) => (v as Partial<JobRecord> | undefined)?.dissolved),
    );
    expect(committed).toBeLessThan(heard);
    expect(heard).toBeLessThan(fenced);
  });

  it('nobody is fenced before who serves the job has heard of it, in whatever order the commits are answered', () => {
    const s = left([3, 2, 1], {}, (stage) => stage.hold.add('persist'));
    const answer = (): void => {
      const held = s.of('persist').splice(-2).reverse();
      for (const e of held) for (const event of s.answer(e)) s.send(event.type, event as never);
    };
    // The incarnations of the team; then its end, and the incarnations of its ranks.
    answer();
    expect(s.of('fenceCs').filter((e) => e.incarnation === 2)).toEqual([]);
    answer();
    const heard = s.effects.findIndex((e) => e.type === 'teams' && e.dissolved !== undefined);
    const fenced = s.effects.findIndex((e) => e.type === 'fenceCs' && e.incarnation === 2);
    expect(heard).toBeGreaterThan(0);
    expect(heard).toBeLessThan(fenced);
    expect(s.of('teams').filter((e) => e.dissolved)).toHaveLength(1);
  });

  it('T10: a rank still hears of the teams with which its job began', () => {
    const s = left([3, 2, 1]);
    expect(
      s
        .of('assign')
        .slice(3)
        .map((e) => e.team),
    ).toEqual([[0, 1], [0, 1], undefined]);
    for (const e of s.of('assign').slice(3)) expect(e.teams).toEqual([[0, 1, 2]]);
  });

  it('where each node has one slot, all are alone', () => {
    const s = left([3, 1, 1, 1]);
    expect(s.assigned().slice(3)).toEqual(['0.2@2', '1.2@3', '2.2@4']);
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [] });
    expect(s.of('assign').at(-1)!.team).toBeUndefined();
  });

  it('a count of a channel that stays in a smaller team is in no log', () => {
    const sends = [0, 1, 2].map((n) => [T(n), n + 1] as const);
    const policy = {
      ...protocols.pessimistic,
      recovery: { ...protocols.pessimistic.recovery, endsAt: () => sends },
    };
    const s = left([3, 2, 1], {}, undefined, new Stage(undefined, { ...protocols, pessimistic: policy }));
    const { from } = s.of('teams').at(-1)!.dissolved![0]!;
    expect(from.map((f) => f.sends)).toEqual([[[2, 3]], [[2, 3]], sends]);
  });

  it('a smaller team is dissolved in its turn', () => {
    const s = left([3, 2, 1]);
    for (const n of [4, 5]) s.come(n, 1);
    s.send('goodbye', { connection: 'c2', reason: 'closed' });
    expect(s.assigned().slice(6)).toEqual(['0.4@4', '1.4@5']);
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [], dissolved: [{ team: [0, 1, 2] }, { team: [0, 1] }] });
    // T10
    expect(s.of('assign').at(-1)!.teams).toEqual([[0, 1, 2]]);
  });

  it('a set that was damaged makes no smaller teams', () => {
    const image = (n: number): ImageId => `image-${n}` as ImageId;
    const s = left([3, 2, 1], {}, (stage) => {
      for (const t of [0, 1, 2]) stage.send('image', { job: J(), task: T(t), image: image(t), serial: 1 });
    });
    expect(s.assigned().slice(3)).toEqual(['0.2@2', '1.2@2', '2.2@3']);
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [] });
  });

  it('its teams are lost by themselves, also after a restart of the server', () => {
    const s = left([3, 2, 1]);
    s.crash();
    expect(s.of('teams').at(-1)).toMatchObject({ teams: [[0, 1]], dissolved: [{ team: [0, 1, 2] }] });
    s.come(4, 1);
    s.come(2, 2, {
      claimed: s.record(0).node,
      holds: [0, 1].map((t) => ({ job: J(), task: T(t), incarnation: I(2) })),
    });
    s.pass(11_000, { c4: [], c2: [s.beat(0, 2), s.beat(1, 2)] });
    // Only the rank of the third node restarts.
    expect(s.assigned().slice(6)).toEqual(['2.3@4']);
  });

  it.each<[string, Partial<Holdings>]>([
    ['a message', { sent: [[T(3), 1]] }],
    ['a determinant', { determinants: 1, held: [[0, 1]] }],
    ['evidence of an arrival', { arrivals: 1, consumed: 1 }],
  ])('the team stays where a log has %s behind the image', (_, logs) => {
    const s = left([3, 2, 1], {}, (stage) => stage.logs.set(T(1), { ...NOTHING, ...logs }));
    expect(s.assigned().slice(3)).toEqual(WHOLE);
    expect(s.of('teams').filter((e) => e.dissolved)).toEqual([]);
  });

  it('the team stays where one node has room, and where not all ranks would get a slot', () => {
    expect(left([3, 3, 1]).assigned().slice(3)).toEqual(WHOLE);
    expect(left([3, 2]).assigned().slice(3)).toEqual(WHOLE);
  });

  it('scripts are no exception', () => {
    const script = left([3, 2, 1], { program: job(1).program });
    expect(script.assigned().slice(3)).toEqual(['0.2@2', '1.2@2', '2.2@3']);
  });

  it('it stays whole and moves once more where a node has room for all of it by the time that all are fenced', () => {
    const s = left([3, 2], {}, (stage) => stage.hold.add('fenceCm'));
    s.come(4, 3);
    s.release();
    s.release();
    expect(s.assigned().slice(3)).toEqual(['0.2@4', '1.2@4', '2.2@4']);
    expect(s.of('teams').filter((e) => e.dissolved)).toEqual([]);
  });

  it('the team stays where a member has ended', () => {
    const s = left([3, 2, 1], {}, (stage) => stage.exit(1));
    expect(s.assigned().slice(3)).toEqual(WHOLE);
  });
});

describe('D23: an EXIT becomes durable while the team restarts', () => {
  it.each(['persist', 'fenceCs', 'fenceCm'] as const)(
    'before the answer to %s: all of it does so once more',
    (held) => {
      const s = left([3, 3], {}, (stage) => stage.hold.add(held));
      s.exit(1);
      s.release();
      s.pass(1000, { c2: [] });
      expect(s.assigned().slice(3)).toHaveLength(3);
      expect(
        new Set(
          s
            .assigned()
            .slice(3)
            .map((a) => a.slice(1)),
        ),
      ).toEqual(new Set(['.2@2']));
    },
  );
});
