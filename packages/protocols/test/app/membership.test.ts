import { describe, expect, it } from 'vitest';
import type { Incarnation, TaskId } from '@mayfly/wire';
import { Membership } from '../../src/app/membership.ts';
import type { MembershipEvent } from '../../src/contract/membership.ts';
import { readRequest } from '../../src/contract/member-request.ts';
import { Model } from './model.ts';
import { PLANTED, PLANTED_IN_RECOVERY } from './planted.ts';
import { RecoveryModel } from './recovery-model.ts';

const SEEDS = 300;

const MODES = ['blank', 'shrink', 'rebuild'] as const;

describe('recovery under FT-MPI’s modes', () => {
  it.each(MODES)('keeps its rules in random jobs: %s', (mode) => {
    let epochs = 0;
    let failed = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const model = new RecoveryModel(seed, mode);
      expect(model.run(), `seed ${seed}`).toEqual([]);
      for (const t of model.tasks) epochs += t.recovered.length;
      if (model.failed) failed++;
    }
    // Only a replacement waits for a slot.
    if (mode === 'rebuild') expect(failed).toBeGreaterThan(SEEDS / 20);
    else expect(failed).toBe(0);
    expect(epochs).toBeGreaterThan(SEEDS);
  });

  it.each(Object.entries(PLANTED_IN_RECOVERY))('the judge finds a planted bug: %s', (_, Core) => {
    const found = MODES.filter((mode) => {
      for (let seed = 1; seed <= SEEDS; seed++) if (new RecoveryModel(seed, mode, Core).run().length > 0) return true;
      return false;
    });
    expect(found).not.toEqual([]);
  });
});

describe('the membership service', () => {
  it('keeps its rules in random jobs', () => {
    for (let seed = 1; seed <= SEEDS; seed++) expect(new Model(seed).run(), `seed ${seed}`).toEqual([]);
  });

  it.each(Object.entries(PLANTED))('the judge finds a planted bug: %s', (_, Core) => {
    let found = 0;
    for (let seed = 1; seed <= SEEDS && found === 0; seed++) if (new Model(seed, Core).run().length > 0) found = seed;
    expect(found).toBeGreaterThan(0);
  });

  const told = (core: Membership, ...events: MembershipEvent[]) =>
    events.flatMap((e) => core.step(e)).filter((f) => f.type === 'tell');

  it('names a new context by the greatest offer, and drops who ended (N7)', () => {
    const core = new Membership({ tasks: 3, channelMemories: 1, slotMs: 0 });
    const give = (task: number, offer: number): MembershipEvent => ({
      type: 'request',
      task: task as TaskId,
      request: { op: 'shrink', context: 0, members: [0, 1, 2], number: 0, flag: -1, offer, acknowledged: [] },
    });
    const out = told(core, give(0, 40), give(1, 44), { type: 'ended', task: 2 as TaskId });
    expect(out.map((f) => [f.task, f.notice])).toEqual(
      [0, 1].map((t) => [
        t,
        { op: 'agreed', context: 0, number: 0, flag: -1, offer: 44, lost: [], unacknowledged: false },
      ]),
    );
  });

  it('tells a spawned task of earlier losses', () => {
    const core = new Membership({ tasks: 2, channelMemories: 1, slotMs: 0 });
    const one = 1 as Incarnation;
    core.step({ type: 'dead', task: 1 as TaskId, above: one });
    core.step({ type: 'fenced', task: 1 as TaskId, incarnation: one, cm: 0 });
    expect(told(core, { type: 'grow', tasks: 3 })).toEqual([
      { type: 'tell', task: 2, number: 1, notice: { op: 'lost', tasks: [1] } },
    ]);
  });

  it('ignores requests for communicators that are not the sender’s', () => {
    const core = new Membership({ tasks: 3, channelMemories: 1, slotMs: 0 });
    const revoke = (members: number[]): MembershipEvent => ({
      type: 'request',
      task: 0 as TaskId,
      request: { op: 'revoke', context: 4, members },
    });
    expect(told(core, revoke([1, 2]), revoke([1, 0]), revoke([0, 7]), revoke([0, 0]))).toEqual([]);
    expect(told(core, revoke([0, 1]))).toHaveLength(2);
  });

  it('reads requests, and nothing else', () => {
    const bytes = (v: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(v));
    expect(readRequest(bytes({ op: 'revoke', context: 4, members: [0] }))).toBeDefined();
    for (const bad of [{}, { op: 'revoke', context: -1, members: [0] }, { op: 'agree', context: 0, members: [0] }, 7])
      expect(readRequest(bytes(bad))).toBeUndefined();
    expect(readRequest(new Uint8Array([0xff, 0x7b]))).toBeUndefined();
  });
});
