/** Time that ranks spend on work that a rollback undid counts as repeated. */
import { SPENT, taskId, type Heartbeat, type JobId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { RepeatedWork } from '../src/jobs/repeated-work.ts';

const job = 'j' as JobId;
const beat = (spent: Partial<Record<(typeof SPENT)[number], number>>, incarnation = 0): Heartbeat => ({
  tasks: [
    {
      job,
      task: taskId(0),
      incarnation: incarnation as never,
      started: true,
      activity: { state: 'computing', arrivals: 0, sends: 0 },
      spent: SPENT.map((k) => spent[k] ?? 0),
    },
  ],
});
const spentOf = (m: Heartbeat): Record<string, number> =>
  Object.fromEntries(SPENT.map((k, i) => [k, m.tasks[0]!.spent![i]!]).filter(([, ms]) => ms !== 0)) as never;

it('counts time up to the place of the loss as repeated, and copies of memory as checkpoints', () => {
  let until: number | undefined = 2000;
  let waves: unknown = {
    ran: (task: number, since: number) => ran.push([task, since]),
    repeatsUntil: () => until,
    stalled: (task: number, ms: number) => stalls.push([task, ms]),
  };
  const stalls: unknown[] = [];
  const ran: unknown[] = [];
  const repeated = new RepeatedWork(() => waves as never);
  const heard = (m: Heartbeat, now: number): unknown => spentOf(repeated.heard(m, () => true, now));
  expect(heard(beat({ computing: 1000 }), 1500)).toEqual({ replaying: 1000 });
  // Half of the second is behind the place of the loss.
  expect(heard(beat({ computing: 1600, waiting: 300, checkpointing: 100 }), 2500)).toEqual({
    computing: 300,
    waiting: 150,
    checkpointing: 100,
    replaying: 1450,
  });
  expect(stalls).toEqual([[0, 100]]);
  // Before, it loaded its image.
  expect(ran).toEqual([[0, 500]]);
  until = undefined;
  expect(heard(beat({ computing: 2600, waiting: 300, checkpointing: 100 }), 3500)).toMatchObject({ computing: 1300 });
  // The job has ended: its last words add to what was counted.
  waves = undefined;
  expect(heard(beat({ computing: 2700, waiting: 300, checkpointing: 100 }), 3600)).toMatchObject({
    computing: 1400,
    replaying: 1450,
  });
});

it('leaves alone what nobody believes, and jobs of other protocols', () => {
  const m = beat({ computing: 1000 });
  expect(new RepeatedWork(() => undefined).heard(m, () => true, 1000)).toEqual(m);
  const waves = { ran: () => undefined, repeatsUntil: () => 5000, stalled: () => undefined };
  expect(new RepeatedWork(() => waves).heard(m, () => false, 1000)).toEqual(m);
});
