/** What the owner takes a Channel Memory at another server to have before that one has said so. */
import { FILES, WORLD, imageId, taskId, type Cut } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { RemoteCore } from '../src/memories/remote-core.ts';
import { REPORTED, type SeatReport } from '../src/memories/seat-messages.ts';

const report = (answers: number): SeatReport => {
  const tasks = new Float64Array(2 * REPORTED);
  tasks[4] = answers;
  return {
    seat: 1,
    links: 0,
    logBytes: 0,
    memory: { bytes: 0, heldBack: 0, records: 0, covers: 0 },
    unshown: { messages: 0, output: 0, bytes: 0, requests: 0 },
    tasks,
    traffic: { tasks: new Float64Array(0), rows: [] },
    tapped: [],
  };
};

it('what its tasks had received at the line: answers before it are not there to be given again', () => {
  const receives: Cut['receives'] = [
    [WORLD, 2],
    [FILES, 7],
  ];
  const cut: Cut = { arrivals: 9, sends: [], receives, held: [] };
  const image = imageId('model0000000-0-1-1');
  const line = {
    epoch: 1,
    to: {
      wave: 1,
      epoch: 0,
      at: 0,
      mark: null,
      tasks: [
        { task: taskId(0), state: 'image' as const, image, cut },
        { task: taskId(1), state: 'start' as const },
      ],
    },
  };
  const core = new RemoteCore(2, line, report(0), () => undefined);
  expect([core.logged(FILES, taskId(0)), core.logged(WORLD, taskId(0))]).toEqual([7, 2]);
  expect(core.logged(FILES, taskId(1))).toBe(0);
  core.reported(report(8));
  expect(core.logged(FILES, taskId(0))).toBe(8);
});
