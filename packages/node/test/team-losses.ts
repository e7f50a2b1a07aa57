/** A job in teams loses the node of rank 1, and then rank 0, while all of it computes. */
import { expect } from 'vitest';
import type { Bench } from './harness.ts';

/**
 * @param id a job whose ranks are all running, or will be; its last units wait for a line of input
 * @param ends waits for the end, and checks the answer
 */
export async function losesNodeAndRank(
  bench: Bench,
  team: number,
  id: string,
  ends: () => Promise<void>,
): Promise<void> {
  await bench.until(id, (j) => j.tasks.every((t) => t.state === 'running'));
  await bench.works(id);
  const at = (await bench.view(id)).tasks[1]!.node;
  bench.nodes.find((n) => n.node === at)!.kill();
  await bench.recovered(id, 1);
  await bench.works(id);
  await bench.api(`jobs/${id}/tasks/0/kill`, { method: 'POST' });
  await bench.input(id, 'go');
  await ends();
  const { tasks, faults } = await bench.view(id);
  // Messages took rings, and the losses were noticed.
  expect(tasks.every((t) => (t.localIn ?? 0) > 0)).toBe(true);
  expect(faults.length).toBeGreaterThanOrEqual(2);
  console.log(
    `team ${team}: ${faults.map((f) => `rank ${f.task} recovered after ${f.recoveredAfterMs} ms`).join(', ')}`,
  );
}
