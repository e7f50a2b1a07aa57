/** The job of a run, as the server's REST would submit it. */
import type { JobSpec } from '@mayfly/protocols';
import { MAX_SPAWNED } from '@mayfly/wire';
import type { Setup } from './setup.ts';

/** @param submittedAt ms since the epoch */
export const jobSpec = (setup: Setup, submittedAt: number): JobSpec => ({
  id: setup.job,
  name: 'simulated',
  size: setup.spec.spawn?.first ?? setup.spec.size,
  capacity: setup.spec.size + (setup.ft ? MAX_SPAWNED : 0),
  protocol: setup.protocol,
  durability: setup.durability,
  program: { language: setup.kind === 'wasm' ? 'c' : 'typescript', entry: 'main.ts', hash: setup.program },
  args: [],
  files: [],
  seed: setup.spec.seed,
  channelMemories: setup.channelMemories,
  ...(setup.clusters && { clusters: [...setup.clusters] }),
  ...(setup.rooms && { rooms: [...setup.rooms] }),
  checkpointMs: setup.checkpointMs,
  ...(setup.wholeEvery === undefined ? {} : { parity: { checksums: 1, wholeEvery: setup.wholeEvery } }),
  ...(setup.ft && { ft: setup.ft }),
  interactive: false,
  team: setup.team,
  ...(setup.mapBy === undefined ? {} : { mapBy: setup.mapBy }),
  ...(setup.briefGraceMs === undefined ? { graceMs: setup.graceMs } : {}),
  limits: { memoryBytes: 1 << 30, fileBytes: 1 << 30 },
  submittedAt,
});
