/**
 * Fifty faults on real processes: tabs of Chromium closed, reloaded, crashed, cut off, cloned and frozen, headless
 * nodes killed, the server killed, over examples in TypeScript and C. The mechanism and what every job must show:
 * src/campaign/. The long command: `npm run faults`.
 *
 * "The other nodes are not aware about the failure" (MPICH-V §3.1). "CM is a stable repository for communicating nodes
 * messages" (§3.2).
 */
import { expect, test } from '@playwright/test';
import { Campaign, type JobReport } from '../src/campaign/campaign.ts';
import { KINDS } from '../src/campaign/kinds.ts';
import { faultsOf, plan } from '../src/campaign/plan.ts';
import { histogram } from '../src/campaign/report.ts';
import { SHORT_WORKLOADS } from '../src/campaign/workloads.ts';
import { showLogOnFailure } from '../src/failure.ts';

const KILLS = 50;
const seed = Number(process.env.MAYFLY_SEED ?? 2002);
const PLAN = { seed, kills: KILLS, workloads: SHORT_WORKLOADS, perJob: 9 };
const jobs = plan(PLAN);

// Each worker has a server and nodes of its own, and takes the next job that nobody has.
test.describe.configure({ mode: 'parallel' });
let campaign: Campaign | undefined;
const reports: JobReport[] = [];
showLogOnFailure(() => campaign?.server);

test.beforeAll(async () => {
  campaign = await Campaign.start({ seed, say: (line) => console.log(line), teams: [1, 2] });
});
test.afterAll(async () => {
  await campaign?.close();
  console.log(`\n${histogram(reports)}\nseed ${seed}: MAYFLY_SEED repeats it\n`);
});

test('every kind of fault is in the plan, and a seed repeats it', () => {
  expect(jobs.reduce((n, j) => n + faultsOf(j).length, 0)).toBe(KILLS);
  expect([...new Set(jobs.flatMap((j) => faultsOf(j).map((f) => f.kind)))].sort()).toEqual(
    KINDS.filter((k) => !k.shared)
      .map((k) => k.name)
      .sort(),
  );
  expect(plan(PLAN)).toEqual(jobs);
});

for (const job of jobs)
  test(`${job.workload.example} through ${faultsOf(job)
    .map((f) => f.kind)
    .join(', ')}`, async () => {
    const report = await campaign!.run(job);
    reports.push(report);
    if (report.wrong !== undefined) await campaign!.clear(report);
    expect(report.wrong, `job ${job.index} of seed ${seed}`).toBeUndefined();
    expect(report.missed, 'every fault found a victim').toEqual([]);
    expect(report.struck.map((s) => s.kind).sort()).toEqual(
      faultsOf(job)
        .map((f) => f.kind)
        .sort(),
    );
  });
