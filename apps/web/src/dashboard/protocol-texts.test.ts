import type { JobView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { job, rank } from './job-sample.ts';
import {
  beforeComparison,
  CHOICES,
  durabilityText,
  ifLostText,
  keptText,
  mapByDefault,
  noFaultsText,
  pauseAdvice,
  refusedText,
  toleranceText,
  withProtocol,
} from './protocol-texts.ts';

describe('the submit form', () => {
  it('offers every protocol, with what it costs', () => {
    expect(CHOICES.map((c) => c.name)).toEqual(['pessimistic', 'vcl', 'pcl', 'hc3i', 'app', 'none']);
    expect(CHOICES.find((c) => c.name === 'vcl')?.texts.costs).toMatch(
      /all ranks repeat.*output is final some seconds late/,
    );
  });
  it('says of each protocol for which jobs it is', () => {
    const costs = (protocol: string) => CHOICES.find((c) => c.name === protocol)?.texts.costs;
    expect(costs('pessimistic')).toMatch(/lost often.*write much.*in doubt$/);
    expect(costs('vcl')).toMatch(/many messages and seldom lose a rank$/);
    expect(costs('pcl')).toMatch(/for comparing the two$/);
    expect(costs('none')).toContain('for a short trial');
  });
  it('offers vcl to modules, not to scripts', () => {
    expect(refusedText('vcl', 'scripts')).toMatch(/^Not available with vcl: .*TypeScript/);
    expect([refusedText('pessimistic', 'scripts'), refusedText('none', 'scripts')]).toEqual([undefined, undefined]);
  });
  it('offers teams where the server need not have their messages, and forgets their size elsewhere', () => {
    expect(refusedText('none', 'teams')).toBeUndefined();
    expect(refusedText('pessimistic', 'teams')).toBeUndefined();
    expect(refusedText('vcl', 'teams')).toContain('every message passes through the server');
    expect([mapByDefault('pessimistic', 4), mapByDefault('pessimistic', 1)]).toEqual(['slot', 'node']);
    expect([mapByDefault('none', 32), mapByDefault('vcl', 32)]).toEqual(['slot', 'node']);
    expect(withProtocol({ protocol: 'none', team: 4, mapBy: 'slot' }, 'vcl')).toEqual({
      protocol: 'vcl',
      mapBy: 'slot',
    });
  });
  it('asks for clusters where a job needs them, and forgets them elsewhere', () => {
    expect(withProtocol({}, 'hc3i')).toEqual({ protocol: 'hc3i', clusters: 2 });
    expect(withProtocol({ protocol: 'hc3i', clusters: 3 }, 'hc3i')).toEqual({ protocol: 'hc3i', clusters: 3 });
    expect(withProtocol({ protocol: 'hc3i', clusters: 3 }, 'vcl')).toEqual({ protocol: 'vcl' });
  });
  it('keeps FT-MPI’s modes only where the server accepts them', () => {
    const ft = { communicators: 'shrink', messages: 'cont' } as const;
    expect(withProtocol({ protocol: 'app', ft }, 'app')).toEqual({ protocol: 'app', ft });
    expect(withProtocol({ protocol: 'app', ft }, 'none')).toEqual({ protocol: 'none' });
  });
  it('offers parity of checkpoints only where the server accepts it', () => {
    expect(refusedText('pessimistic', 'parity')).toBeUndefined();
    expect(refusedText('vcl', 'parity')).toBeUndefined();
    expect(refusedText('pcl', 'parity')).toBeUndefined();
    expect(refusedText('hc3i', 'parity')).toMatch(/^Not available with hc3i: /);
    expect(withProtocol({ parity: { checksums: 1 } }, 'none')).toEqual({ protocol: 'none' });
    expect(withProtocol({ parity: { checksums: 1 } }, 'vcl').parity).toEqual({ checksums: 1 });
    const both = { parity: { checksums: 1 }, team: 2 };
    expect(withProtocol(both, 'pessimistic')).toEqual(both);
  });
  it('forgets strict durability where the server refuses it', () => {
    expect(withProtocol({ durability: 'strict' }, 'pcl')).toEqual({ protocol: 'pcl' });
    expect(withProtocol({ protocol: 'none', durability: 'strict' }, 'pessimistic')).toEqual({ durability: 'strict' });
  });
  it('sends a protocol only where it is not the default, and no interval that the server would refuse', () => {
    expect(withProtocol({ protocol: 'vcl', seed: 1 }, 'pessimistic')).toEqual({ seed: 1 });
    expect(withProtocol({ checkpointMs: 0 }, 'vcl')).toEqual({ protocol: 'vcl' });
    expect(withProtocol({ checkpointMs: 100 }, 'vcl')).toEqual({ protocol: 'vcl', checkpointMs: 100 });
    expect(withProtocol({ checkpointMs: 0 }, 'pessimistic')).toEqual({ checkpointMs: 0 });
    for (const protocol of ['app', 'none'] as const)
      expect(withProtocol({ checkpointMs: 30_000, stuckAfterMs: 1000, stuckFactor: 2 }, protocol)).toEqual({
        protocol,
      });
  });
});

describe('words about a job', () => {
  it('say before a pause what it will cost', () => {
    expect(pauseAdvice(job({ protocol: 'none' }))).toContain('cannot be paused');
    expect(pauseAdvice(job({}))).toContain('not started');
    const begun = { startedAt: 1, tasks: [rank({ images: 1 }), rank({}), rank({ state: 'done' })] };
    const c = { language: 'c', entry: 'a.c', hash: '' };
    expect(pauseAdvice(job(begun))).toMatch(/next checkpoint\.here.* 1 of 2 ranks have none so far/);
    expect(pauseAdvice(job({ ...begun, program: c }))).toMatch(/next MPI call/);
    expect(pauseAdvice(job({ ...begun, program: c, protocol: 'vcl' }))).toMatch(/together.* previous checkpoint/);
    expect(pauseAdvice(job({ ...begun, program: c, protocol: 'vcl' }))).not.toContain('log');
  });
  it('say what was chosen; an interval of 0 is one that the scheduler finds', () => {
    expect(toleranceText({ protocol: 'vcl', checkpointMs: 0 })).toMatch(/follows from their cost and the losses$/);
    expect(toleranceText({ protocol: 'vcl', checkpointMs: 2000 })).toMatch(/2 s from one checkpoint to the next$/);
    expect(toleranceText({ protocol: 'pessimistic', checkpointMs: 30_000 })).toMatch(/about every 30 s$/);
    expect(toleranceText({ protocol: 'none', checkpointMs: 30_000 })).toBe('none: a lost rank ends the job');
    expect(durabilityText(job({ protocol: 'vcl', durability: 'strict' }))).toContain('messages in memory');
    expect(durabilityText(job({ durability: 'strict' }))).toContain('strict');
  });
  it('say of a loss what holds under the protocol and in the state', () => {
    const said = (protocol: JobView['protocol'], state: JobView['state'] = 'running') =>
      beforeComparison({ protocol, state });
    expect(said('pessimistic')).toMatch(/^Kill a rank or close a tab: the job continues\./);
    expect(said('none')).toMatch(/^A lost rank ends this job, because its protocol is none\./);
    // A program that goes on with fewer ranks has another answer, and nobody promises the same one.
    expect(said('app')).toMatch(/the program decides what to do\.$/);
    expect(said('app')).not.toContain('byte');
    for (const state of ['paused', 'pausing', 'waiting', 'failed', 'cancelled', 'done'] as const)
      expect(said('pessimistic', state)).not.toMatch(/Kill a rank|continues/);
    expect(noFaultsText('pessimistic', 'running')).toContain('Try it');
    expect(noFaultsText('pessimistic', 'paused')).not.toContain('Try it');
  });
  it('speak of a log only where there is one', () => {
    for (const text of [noFaultsText('vcl', 'running'), keptText('vcl'), ifLostText('vcl', undefined, 0)]) {
      expect(text).not.toMatch(/\blog\b|replay/);
      expect(text).toMatch(/all (?:ranks|of them) /i);
    }
    expect(ifLostText('pessimistic', { bytes: 1024, at: 1000 }, 6000)).toMatch(/^loads .* replays up to 5 s$/);
    expect(ifLostText('pessimistic', undefined, 0)).toContain('its whole log');
  });
});
