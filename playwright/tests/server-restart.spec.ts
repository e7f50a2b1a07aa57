/**
 * `kill -9` of the server in the middle of each example, restart on the same data directory: tabs come back by themselves, keep
 * their ranks, and the job ends with its answer. "CM is a stable repository for communicating nodes messages" (MPICH-V §3.2).
 */
import { expect, test } from '@playwright/test';
import { chance } from '../src/chance.ts';
import { classroom } from '../src/classroom.ts';
import { progressOf, readExample } from '../src/client.ts';
import { WORKLOADS } from '../src/workloads.ts';

const room = classroom();

for (const w of WORKLOADS)
  test(w.example, async () => {
    const calm = await room.client.ended((await room.client.submit(await readExample(w.example), w.size, w.args)).id, 120_000);
    expect(calm.state).toBe('done');
    const draw = chance(`restart/${w.example}`);
    const job = await room.client.submit(await readExample(w.example), w.size, w.args);
    const moment = (0.1 + 0.5 * draw()) * progressOf(calm);
    const met = await room.client.until(job.id, `at ${Math.round(moment)} messages`, (j) => j.state !== 'waiting' && progressOf(j) >= moment);
    await room.server.kill9();
    await new Promise((r) => setTimeout(r, 300 * draw()));
    await room.server.up();
    const end = await room.client.ended(job.id, 120_000);
    expect(met.state).toBe('running');
    expect(end.error).toBeUndefined();
    expect(end.state).toBe('done');
    for (const t of end.tasks) expect(t.incarnation, 'no rank was lost with the server').toBe(0);
    expect(await room.client.answer(end)).toEqual(await room.client.answer(calm));
  });
