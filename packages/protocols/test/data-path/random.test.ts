/** Seeded random runs of the real cores; see cluster.ts. A failing seed replays exactly. */
import { expect, test } from 'vitest';
import { SingleCounterEndpoint } from '@mayfly/simulator';
import { protocols, type VProtocol } from '../../src/index.ts';
import { Cluster, type Options } from './cluster.ts';

const { pessimistic } = protocols;

const base = (seed: number, over: Partial<Options> = {}): Options => ({
  seed,
  shape: { size: 2 + (seed % 3), rounds: 12, chunk: 64 },
  cms: 1 + (seed % 3),
  images: true,
  envelopes: seed % 2 === 0,
  ...over,
});

const SEEDS = Number(process.env.DATA_PATH_SEEDS ?? 25);
const FIRST = Number(process.env.DATA_PATH_SEED ?? 1);

/** `seen`: what the runs together must have met, or the test would show nothing. */
function runs(
  name: string,
  make: (seed: number) => Options,
  seen: (keyof Cluster['stats'])[] = [],
  allowed: string[] = ['done'],
): void {
  test(name, { timeout: 120_000 }, () => {
    const total = {
      restarts: 0,
      suppressed: 0,
      appended: 0,
      resupplied: 0,
      envelopes: 0,
      images: 0,
      trims: 0,
      resends: 0,
      lost: 0,
    };
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const c = new Cluster(make(seed));
      let end;
      try {
        end = c.run();
      } catch (e) {
        throw new Error(`seed ${seed}: ${(e as Error).message}`, { cause: e });
      }
      if (!allowed.includes(end)) throw new Error(`seed ${seed}: ended with ${end}`);
      if (end !== 'done') total.lost++;
      for (const k of Object.keys(c.stats) as (keyof typeof c.stats)[]) total[k] += c.stats[k];
    }
    if (process.env.DATA_PATH_SHOW) console.log(name, total);
    for (const k of seen) expect(total[k], k).toBeGreaterThan(0);
    expect(total.lost).toBeLessThan(SEEDS);
  });
}

runs('without faults', (seed) => base(seed), ['envelopes', 'images', 'trims']);
runs('protocol none', (seed) => base(seed, { protocol: protocols.none, images: false, faults: { links: 3 } }), [
  'envelopes',
]);
runs('links break', (seed) => base(seed, { faults: { links: 8 } }));
runs('ranks die', (seed) => base(seed, { faults: { ranks: 5 } }), ['restarts', 'suppressed']);
runs(
  'ranks die, images are spoilt, links break',
  (seed) => base(seed, { faults: { ranks: 5, imagesSpoilt: 2, links: 4 } }),
  ['restarts'],
);
runs(
  'Channel Memories are killed, their page cache survives',
  (seed) => base(seed, { faults: { kills: 4, ranks: 3, links: 3 } }),
  ['restarts', 'resends'],
);
runs(
  'strict: everything together, with power loss',
  (seed) =>
    base(seed, {
      durability: 'strict',
      slowSync: seed % 4 === 0,
      faults: { kills: 2, powerLosses: 3, ranks: 4, links: 4, imagesSpoilt: 1 },
    }),
  ['restarts'],
);
runs(
  'behind: power loss, no rank dies',
  (seed) => base(seed, { slowSync: true, faults: { powerLosses: 3, links: 3 } }),
  ['resupplied'],
);
runs(
  'behind: power loss and ranks die: the answer or LOST_LOG',
  (seed) => base(seed, { slowSync: seed % 2 === 0, faults: { powerLosses: 3, ranks: 4, links: 2 } }),
  ['resupplied', 'restarts'],
  ['done', 'LOST_LOG'],
);

/** A third protocol, in three lines: whatever a job asks for, nothing is seen before it is durable. */
const strictly: VProtocol = { ...pessimistic, log: { ...pessimistic.log, visible: () => 'synced' } };
runs(
  'a third row of the table: power loss and ranks die, and LOST_LOG never comes, though the job asked for `behind`',
  (seed) =>
    base(seed, { protocol: strictly, slowSync: seed % 2 === 0, faults: { powerLosses: 3, ranks: 4, links: 2 } }),
  ['restarts'],
);

test('planted: the single counter of Figure 4 is caught', { timeout: 120_000 }, () => {
  let caught = 0;
  for (let seed = 1; seed <= 40 && caught === 0; seed++) {
    try {
      const c = new Cluster(
        base(seed, {
          shape: { size: 4, rounds: 8, chunk: 64 },
          cms: 3,
          images: false,
          faults: { ranks: 5 },
          protocol: { ...pessimistic, rank: (...start) => new SingleCounterEndpoint(...start) },
        }),
      );
      if (c.run(100_000) !== 'done') caught++;
    } catch {
      caught++;
    }
  }
  expect(caught).toBe(1);
});
