/**
 * A program that takes all memory. The browser's limit is made small, so that it is reached soon; what happens then is
 * the same.
 */
import { expect, test } from '@playwright/test';
import { classroom } from '../src/classroom.ts';
import { source } from '../src/client.ts';
import { launchOptions } from '../src/nodes/browser.ts';

test.use({ launchOptions: { ...launchOptions, args: [...launchOptions.args, '--js-flags=--max-old-space-size=256'] } });
// One slot more than the other job needs: with no slot free elsewhere the job would wait for one instead of ending.
const room = classroom(3);

test('memory without end kills the rank again and again, then the job, never the page nor another job', async () => {
  const before = (await room.client.nodes()).map((n) => n.id).sort();
  const healthy = await room.client.submit(
    source(
      'healthy',
      `import { COMM_WORLD as comm, stdin } from 'mayfly';\nif (comm.rank === 0) ` +
        `stdin.readLine();\ncomm.barrier();\nconsole.log('well');`,
    ),
    2,
    [],
    { interactive: true },
  );
  await room.client.until(healthy.id, 'running', (j) => j.tasks.every((t) => t.state === 'running'));
  const greedy = await room.client.submit(
    source(
      'greedy',
      `const hoard: unknown[] = [];\nfor (;;) hoard.push(new Array<number>(1 << 23).fill(hoard.length + 0.5));`,
    ),
    1,
  );
  const end = await room.client.ended(greedy.id);
  expect(end.error?.code).toBe('KEEPS_CRASHING');
  // Nodes without a record are tried for a while before the program is blamed.
  expect(end.faults.length).toBeGreaterThanOrEqual(3);
  expect(new Set(end.faults.map((f) => f.cause))).toEqual(new Set(['crashed']));
  await room.client.input(healthy.id);
  const well = await room.client.ended(healthy.id);
  // The frames of one tab share a process: a rank of another job that sits in the same tab goes down with it, and is
  // started again.
  for (const f of well.faults) expect(['crashed', 'team']).toContain(f.cause);
  expect((await room.client.answer(well)).stdout).toEqual(['well\n', 'well\n']);
  // Playwright counts the frame's process as the page's ("Page crashed"), so the server is asked: the same nodes, never
  // gone.
  expect(
    (await room.client.nodes())
      .filter((n) => n.state === 'here')
      .map((n) => n.id)
      .sort(),
  ).toEqual(before);
});
