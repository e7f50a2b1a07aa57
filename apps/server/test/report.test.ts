/** What the report of a run says of time and places: from heartbeats, over incarnations, across the end of the job. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ERRORS, SPENT, incarnation, jobId, nodeId, publicReport, taskId, type Heartbeat, type JobReport } from '@mayfly/wire';
import { RunLog } from '../src/jobs/run-log.ts';
import { freshDir } from './harness.ts';

const JOB = jobId('jobjobjobjob');
const beat = (task: number, inc: number, computing: number, replaying: number): Heartbeat => ({
  tasks: [{ job: JOB, task: taskId(task), incarnation: incarnation(inc), started: true, activity: { state: 'computing', arrivals: 0, sends: 0 }, spent: SPENT.map((s) => (s === 'computing' ? computing : s === 'replaying' ? replaying : 0)) }],
});

it('adds up the time of all incarnations of a rank, each once, and keeps it when the job has ended', async () => {
  const dir = await freshDir();
  mkdirSync(join(dir, JOB));
  const log = new RunLog(dir);
  const on = (n: number) => () => ({ id: nodeId(`node000${n}`), name: `tab ${n}`, engine: 'Chromium' });
  log.heard(beat(0, 0, 100, 0), on(1));
  log.heard(beat(0, 0, 250, 0), on(1));
  log.heard(beat(0, 0, 9999, 0), () => undefined); // a zombie: not the acting one
  log.heard(beat(0, 1, 40, 30), on(2));
  log.heard(beat(1, 0, 10, 0), on(2));
  const whole = log.of(JOB);
  expect(whole.spentMs[SPENT.indexOf('computing')]).toBe(300);
  expect(whole.spentMs[SPENT.indexOf('replaying')]).toBe(30);
  expect(whole.nodes).toEqual([{ name: 'tab 1', engine: 'Chromium', ranks: [0] }, { name: 'tab 2', engine: 'Chromium', ranks: [0, 1] }]);
  log.write(JOB);
  expect(new RunLog(dir).of(JOB)).toEqual(whole);
});

it('a shared report names browsers, not people, and of an error the kind, not the words', () => {
  const nodes = [{ name: 'Ada’s laptop', engine: 'Firefox 140', ranks: [taskId(0)] }];
  const job = { name: 'pi', error: { code: 'PROGRAM_ERROR', message: 'no file /home/ada/secret' } };
  const run = { faults: 0, same: false, differences: ['The file a.png has other content.'] };
  const comparisons = [{ job: JOB, ...run }];
  expect(publicReport({ nodes, job, comparisons } as unknown as JobReport)).toEqual({ comparisons: [run], nodes: [{ engine: 'Firefox 140', ranks: [0] }], job: { name: 'pi', error: { code: 'PROGRAM_ERROR', message: ERRORS.PROGRAM_ERROR.advice } } });
});
