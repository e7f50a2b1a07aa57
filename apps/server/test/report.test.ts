/** What the report of a run says of time and places: from heartbeats, over incarnations, across the end of the job. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import {
  ERRORS,
  SPENT,
  incarnation,
  jobId,
  nodeId,
  publicReport,
  taskId,
  type Heartbeat,
  type JobReport,
} from '@mayfly/wire';
import { FolderArchive } from '@mayfly/storage';
import { History } from '../src/history/history.ts';
import { JobHistory } from '../src/history/job-history.ts';
import { profileOf } from '../src/jobs/profile.ts';
import { reportOf, type ReportParts } from '../src/jobs/report.ts';
import { RunLog } from '../src/jobs/run-log.ts';
import { freshDir } from './harness.ts';

const JOB = jobId('jobjobjobjob');
const beat = (
  task: number,
  inc: number,
  computing: number,
  replaying: number,
  calls?: [string, number, number][],
): Heartbeat => ({
  tasks: [
    {
      job: JOB,
      task: taskId(task),
      incarnation: incarnation(inc),
      started: true,
      activity: { state: 'computing', arrivals: 0, sends: 0 },
      spent: SPENT.map((s) => (s === 'computing' ? computing : s === 'replaying' ? replaying : 0)),
      ...(calls ? { calls } : {}),
    },
  ],
});

it('adds up the time of all incarnations of a rank, each once, and keeps it when the job has ended', async () => {
  const dir = await freshDir();
  mkdirSync(join(dir, JOB));
  const archive = new FolderArchive(dir);
  const log = new RunLog(archive);
  const node = (n: number) => nodeId(`node000${n}`);
  const on = (n: number) => () => ({ id: node(n), name: `tab ${n}`, engine: 'Chromium' });
  log.heard(beat(0, 0, 100, 0, [['MPI_Recv', 20, 2]]), node(1), on(1));
  log.heard(beat(0, 0, 250, 0), node(1), on(1)); // its calls come with every few heartbeats only
  log.heard(
    beat(0, 1, 40, 30, [
      ['MPI_Barrier', 5, 1],
      ['MPI_Recv', 7, 1],
      ['<script>', 1, 1],
    ]),
    node(2),
    on(2),
  );
  log.heard(beat(0, 0, 9999, 0), node(1), () => undefined); // a zombie: not the acting one
  log.heard(beat(1, 0, 6, 0), node(2), on(2));
  log.heard(beat(1, 0, 10, 0), node(2), () => undefined); // its last words: it is done, and has no place any more
  const whole = await log.of(JOB);
  expect(whole.spentMs[SPENT.indexOf('computing')]).toBe(300);
  expect(whole.spentMs[SPENT.indexOf('replaying')]).toBe(30);
  expect(whole.nodes).toEqual([
    { name: 'tab 1', engine: 'Chromium', ranks: [0] },
    { name: 'tab 2', engine: 'Chromium', ranks: [0, 1] },
  ]);
  expect(whole.ranks!.map((r) => r.calls)).toEqual([
    [
      ['MPI_Recv', 27, 3],
      ['MPI_Barrier', 5, 1],
      ['other calls', 1, 1],
    ],
    [],
  ]);
  log.write(JOB);
  await expect.poll(() => new RunLog(archive).of(JOB)).toEqual(whole);
  // The same behind the end of the job, and nothing new comes to be.
  log.heard(beat(1, 0, 25, 0), node(2), () => undefined);
  log.heard(beat(2, 0, 99, 0), node(2), on(2));
  expect((await log.of(JOB)).spentMs[SPENT.indexOf('computing')]).toBe(315);
  await log.close();
  expect((await new RunLog(archive).of(JOB)).spentMs[SPENT.indexOf('computing')]).toBe(315);
});

it('writes nothing to the folder of a job that was forgotten, nor of any behind its close', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const dir = await freshDir();
    const UNDER_WAY = jobId('underwayjobs');
    const jobs = [JOB, jobId('forgetforget'), UNDER_WAY];
    const archive = new FolderArchive(dir);
    const history = new History({
      archive,
      dispatcher: () => ({ core: { jobs: new Map() } }) as never,
      traffic: () => [],
      reading: () => undefined,
      waves: () => undefined,
      logger: pino({ enabled: false }),
    });
    const runs = new RunLog(archive);
    for (const job of jobs) {
      mkdirSync(join(dir, job));
      history.open(job, 1, false);
      runs.heard({ tasks: [{ ...beat(0, 0, 7, 0).tasks[0]!, job }] }, nodeId('node0001'), () => ({
        id: nodeId('node0001'),
        name: 'tab',
        engine: 'Chromium',
      }));
      if (job === UNDER_WAY) continue;
      history.end(job);
      runs.write(job);
    }
    // Both begin to write what was said last.
    vi.advanceTimersByTime(6000);
    await history.forget(jobs[1]!);
    await runs.forget(jobs[1]!);
    rmSync(join(dir, jobs[1]!), { recursive: true });
    await history.close();
    await runs.close();
    // It ends while the server stops.
    rmSync(join(dir, UNDER_WAY), { recursive: true });
    mkdirSync(join(dir, UNDER_WAY));
    history.end(UNDER_WAY);
    runs.write(UNDER_WAY);
    expect(readdirSync(dir).sort()).toEqual([JOB, UNDER_WAY].sort());
    expect(readdirSync(join(dir, UNDER_WAY))).toEqual([]);
    expect(readdirSync(join(dir, JOB)).filter((f) => f.endsWith('.new'))).toEqual([]);
    const stands = readdirSync(join(dir, JOB));
    expect(stands).toContain('run.json');
    rmSync(join(dir, JOB), { recursive: true });
    mkdirSync(join(dir, JOB));
    vi.advanceTimersByTime(60_000);
    await new Promise((go) => setImmediate(go));
    for (const job of [JOB, UNDER_WAY]) expect(readdirSync(join(dir, job))).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

it('a profile has what ranks say and what the server knows; what an older server wrote has less', () => {
  const history = new JobHistory(2, 1000);
  history.assigned(taskId(0), incarnation(0), 'n', 2000);
  history.lost(taskId(0), incarnation(0), 5000);
  history.settle(9000);
  const run = {
    spentMs: [],
    nodes: [],
    ranks: [
      {
        spentMs: [700, 300],
        calls: [['MPI_Recv', 299.6, 12] as [string, number, number]],
        places: [
          ['MPI_Recv', 'halo', 280.4],
          ['MPI_Barrier', 'main', 9],
        ] as [string, string, number][],
      },
    ],
  };
  expect(profileOf(2, run, history)).toEqual([
    {
      rank: 0,
      ms: { computing: 700, waiting: 300, starting: 3000, dead: 4000 },
      calls: [{ call: 'MPI_Recv', ms: 300, times: 12, places: [{ place: 'halo', ms: 280 }] }],
    },
    { rank: 1, ms: {}, calls: [] },
  ]);
  expect(profileOf(1, { spentMs: [5], nodes: [] }, undefined)).toEqual([{ rank: 0, ms: {}, calls: [] }]);
});

it('has for each fault what is known besides its cause', () => {
  const fault = { at: 1, task: taskId(0), incarnation: incarnation(0), cause: 'crashed' };
  const error = 'The node no longer reported this rank.';
  const parts = {
    view: { tasks: [], program: {}, faults: [{ ...fault, error }, fault] },
    spec: { files: [], limits: {} },
    run: { spentMs: [], nodes: [] },
    comparisons: [],
  };
  expect(reportOf(parts as unknown as ReportParts).faults).toEqual([
    { at: 1, rank: 0, incarnation: 0, cause: 'crashed', error },
    { at: 1, rank: 0, incarnation: 0, cause: 'crashed' },
  ]);
});

it('a shared report names browsers, not people, and of an error the kind, not the words', () => {
  const nodes = [{ name: 'Ada’s laptop', engine: 'Firefox 140', ranks: [taskId(0)] }];
  const job = { name: 'pi', error: { code: 'PROGRAM_ERROR', message: 'no file /home/ada/secret' } };
  const run = { faults: 0, same: false, differences: ['The file a.png has other content.'] };
  const comparisons = [{ job: JOB, ...run }];
  const waves = { recent: [{ wave: 3, reason: 'the registry cannot write it: /home/ada/secret' }] };
  const faults = [{ at: 1, rank: 0, incarnation: 0, cause: 'crashed', error: 'INTERNAL: no file /home/ada/secret' }];
  expect(publicReport({ nodes, job, comparisons, waves, faults } as unknown as JobReport)).toEqual({
    faults: [{ at: 1, rank: 0, incarnation: 0, cause: 'crashed' }],
    waves: { recent: [{ wave: 3 }] },
    comparisons: [run],
    nodes: [{ engine: 'Firefox 140', ranks: [0] }],
    job: { name: 'pi', error: { code: 'PROGRAM_ERROR', message: ERRORS.PROGRAM_ERROR.advice } },
  });
});
