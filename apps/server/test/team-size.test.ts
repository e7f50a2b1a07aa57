/** The size of teams where a job does not say it: as large as a node, unless the room loses ranks often. */
import type { FaultRecord, JobRecord } from '@mayfly/protocols';
import { MAX_TEAM } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { lossesOf } from '../src/checkpoint-advice.ts';
import { defaultTeam, teamSize } from '../src/team-size.ts';

const HOUR = 3_600_000;
const NOW = 100 * HOUR;

/** Four ranks for two hours in a room, and the causes of its faults. */
const job = (causes: readonly string[], room = 'BLUE') => ({
  record: { startedAt: NOW - 2 * HOUR, endedAt: NOW, spec: { room, size: 4 } } as unknown as JobRecord,
  faults: causes.map((cause) => ({ cause }) as unknown as FaultRecord),
});
const asked = { protocol: 'pessimistic', room: 'BLUE', checkpointMs: 30_000 } as const;

describe('the size of teams', () => {
  it('counts losses that the list of faults has no room for', () => {
    const { record, faults } = job(['silent', 'team', 'killed']);
    const more = { record: { ...record, moreFaults: { silent: 600, team: 10, killed: 7 } }, faults };
    expect(lossesOf([more], 'BLUE', NOW)).toMatchObject({ faults: 612, losses: 601 });
    expect(lossesOf([more], 'RED', NOW)).toMatchObject({ faults: 0, losses: 0 });
  });
  it('lets a team be lost once in four checkpoint intervals at most', () => {
    // A rank is lost alone once in 20 minutes, a team of 10 once in two minutes: four intervals of 30 s.
    expect(teamSize({ losses: 30, rankMs: 10 * HOUR, checkpointMs: 30_000 })).toBe(10);
    expect(teamSize({ losses: 600, rankMs: HOUR, checkpointMs: 30_000 })).toBe(1);
    expect(teamSize({ losses: 4, rankMs: 1000 * HOUR, checkpointMs: 30_000 })).toBe(MAX_TEAM);
  });
  it('is as large as a team may be while too little is known', () => {
    expect(teamSize({ losses: 2, rankMs: 60_000, checkpointMs: 30_000 })).toBe(MAX_TEAM);
    expect(defaultTeam(asked, [], NOW)).toBe(MAX_TEAM);
  });
  it('counts a closed tab once, with all its ranks, and only losses of the same room', () => {
    const often = Array.from({ length: 60 }, () => ['goodbye', 'team', 'team', 'team']).flat();
    // 8 hours of ranks and 60 losses: one in 8 minutes, four times two minutes.
    expect(defaultTeam(asked, [job(often)], NOW)).toBe(4);
    expect(defaultTeam(asked, [job(often, 'RED')], NOW)).toBe(MAX_TEAM);
  });
  it('is left to the dispatcher where ranks do not restart in teams', () => {
    for (const protocol of ['none', 'vcl', 'app'] as const)
      expect(defaultTeam({ ...asked, protocol }, [], NOW)).toBeUndefined();
  });
});
