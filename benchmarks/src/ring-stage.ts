/**
 * The ring stage by itself: a rank thread writes a record to its comm worker, which hands it straight back. One of the
 * two hops on each side of a round trip, there and back.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createRankMemory } from '@mayfly/node/ring';

/**
 * Microseconds of a round trip rank → comm → rank by body size; a body above 64 KB counts as its chunks, one after the
 * other.
 */
export async function ringRoundTrips(sizes: number[]): Promise<Map<number, number>> {
  const memory = createRankMemory();
  const worker = (name: string): Worker =>
    new Worker(join(dirname(fileURLToPath(import.meta.url)), `${name}.js`), { workerData: { memory, sizes } });
  const [comm, rank] = [worker('ring-stage-comm'), worker('ring-stage-rank')];
  try {
    return new Map(
      await new Promise<[number, number][]>((resolve, reject) => {
        rank.once('message', resolve);
        for (const w of [comm, rank]) w.once('error', reject);
      }),
    );
  } finally {
    await Promise.all([comm.terminate(), rank.terminate()]);
  }
}
