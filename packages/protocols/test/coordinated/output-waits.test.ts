/** Y3: when output that waits asks for a wave. */
import { imageId, jobId, taskId, type TaskId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { Waves } from '../../src/index.ts';
import { START_OF_TASK } from '../../src/contract/waves.ts';
import type { ServedLog } from '../../src/service/served-log.ts';
import { WavesOfJob } from '../../src/coordinated/waves-of-job.ts';

const JOB = jobId('abcdefghijkl');
const task = taskId(0);

/**
 * A job of one rank whose waves take `waveMs`; moments (ms) at which they begin within `forMs`.
 * @param foresees its node says all the time that it may soon be lost
 */
function begins(
  waveMs: number,
  forMs: number,
  waits: { output: number; bytes: number; requests: number },
  foresees = false,
): number[] {
  let now = 0;
  const at: number[] = [];
  const nothing = (): undefined => undefined;
  const log = { size: 1, step: nothing, stable: nothing, core: { unshown: () => waits, waveCounts: nothing } };
  const scheduler = new Waves({
    job: JOB,
    tasks: 1,
    participants: [],
    settings: { periodMs: 3_600_000, waveMs: 60_000 },
  });
  const waves = new WavesOfJob(
    JOB,
    1,
    scheduler,
    {
      now: () => now,
      logs: () => [log as unknown as ServedLog],
      dispatch: nothing,
      image: (e) => void (e.type === 'wave' && at.push(now)),
      near: () => [],
      commit: (_changes, then) => then(),
      log: nothing,
      changed: nothing,
      defect(event, error) {
        throw new Error(`${event}: ${String(error)}`);
      },
    },
    true,
  );
  waves.began(task);
  for (; now < forMs; now += 250) {
    waves.tick();
    if (foresees) waves.ask([task as TaskId]);
    const wave = scheduler.underWay;
    if (wave === undefined || now - at.at(-1)! < waveMs) continue;
    waves.answered(0, { type: 'cut', task: task as TaskId, wave, cut: START_OF_TASK });
    waves.stored(wave, { task, image: imageId(`image-${wave}`), bytes: 1, sentBytes: 1 });
    waves.answered(0, { type: 'recorded', task, wave });
  }
  return at;
}
const apart = (at: readonly number[]): number[] => at.slice(1).map((t, i) => t - at[i]!);

it('asks after 5 s, and again until it is shown', () => {
  expect(begins(0, 10_000, { output: 1, bytes: 10, requests: 0 })).toEqual(
    expect.arrayContaining([5000, 6000, 7000, 8000, 9000]),
  );
});

it('costs no more than a twentieth of the time, however long it waits', () => {
  const at = begins(2000, 300_000, { output: 9, bytes: 2 << 20, requests: 0 });
  expect(at.length).toBeGreaterThan(3);
  expect(Math.min(...apart(at))).toBeGreaterThanOrEqual(42_000);
});

it('does not wait where a rank does, nor where memory runs short', () => {
  for (const waits of [
    { output: 1, bytes: 10, requests: 1 },
    { output: 1, bytes: 40 << 20, requests: 0 },
  ])
    expect(Math.max(...apart(begins(2000, 60_000, waits)))).toBeLessThanOrEqual(2500);
});

it('takes one when a task may soon be lost, at the same cost', () => {
  const nothing = { output: 0, bytes: 0, requests: 0 };
  expect(begins(2000, 60_000, nothing)).toEqual([]);
  const at = begins(2000, 300_000, nothing, true);
  expect(at[0]).toBe(0);
  expect(Math.min(...apart(at))).toBeGreaterThanOrEqual(40_000);
});
