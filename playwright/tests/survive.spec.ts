/**
 * Closed, reloaded, crashed and disconnected tabs: the job ends with the very answer of an undisturbed run, only lost ranks have
 * new incarnations, each output line appears once.
 *
 * "The other nodes are not aware about the failure" (MPICH-V §3.1).
 */
import { expect, test } from '@playwright/test';
import { chance, SEED } from '../src/chance.ts';
import { Client, progressOf, readExample, type Answer } from '../src/client.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';
import { WORKLOADS } from '../src/workloads.ts';

let server: ServerProcess;
let client: Client;
let tabs: Tab[] = [];
let opened = 0;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
  console.log(`faults drawn with MAYFLY_SEED=${SEED}`);
});
test.afterAll(async () => {
  for (const t of tabs) await t.close();
  await server.stop();
});

/** Answers of undisturbed runs, by example. */
const undisturbed = new Map<string, { answer: Answer; messages: number }>();

for (const w of WORKLOADS) {
  test.describe(w.example, () => {
    test('undisturbed', async ({ browser }) => {
      while (tabs.length < 3) tabs.push(await Tab.open(browser, server.url, `tab${++opened}`));
      const job = await client.submit(await readExample(w.example), w.size, w.args);
      const end = await client.ended(job.id, 120_000);
      expect(end.error).toBeUndefined();
      expect(end.state).toBe('done');
      for (const t of end.tasks) expect(t.incarnation).toBe(0);
      undisturbed.set(w.example, { answer: await client.answer(end), messages: progressOf(end) });
    });

    for (const fault of ['close', 'reload', 'crash'] as const)
      test(`a tab's ${fault} in the middle`, async ({ browser }) => {
        const calm = undisturbed.get(w.example);
        test.skip(!calm, 'the undisturbed run failed');
        const draw = chance(`${w.example}/${fault}`);
        // A fast machine may end the job before its loss is noticed: then earlier, until a fault has met a running job.
        for (let share = 0.1 + 0.5 * draw(); ; share /= 2) {
          expect(share, 'no fault met the job while it ran: make its workload longer').toBeGreaterThan(0.01);
          while (tabs.length < 3) tabs.push(await Tab.open(browser, server.url, `tab${++opened}`));
          const job = await client.submit(await readExample(w.example), w.size, w.args, { graceMs: 1000 });
          const moment = share * calm!.messages;
          const met = await client.until(job.id, `at ${Math.round(moment)} messages`, (j) => j.state !== 'waiting' && progressOf(j) >= moment);
          const busy = tabs.filter((t) => met.tasks.some((k) => k.nodeName === t.name && k.state !== 'done'));
          const victim = busy[Math.floor(draw() * busy.length)] ?? tabs[0]!;
          const lost = met.tasks.filter((k) => k.nodeName === victim.name && k.state !== 'done').map((k) => k.task);
          if (fault === 'reload') await victim.reload();
          else {
            await victim[fault]();
            tabs = tabs.filter((t) => t !== victim);
            tabs.push(await Tab.open(browser, server.url, `tab${++opened}`));
          }
          const end = await client.ended(job.id, 120_000);
          expect(end.error).toBeUndefined();
          expect(end.state).toBe('done');
          for (const t of end.tasks)
            if (!lost.includes(t.task)) expect(t.incarnation, `rank ${t.task} was not lost`).toBe(0);
          expect(await client.answer(end)).toEqual(calm!.answer);
          if (end.faults.length > 0) break;
        }
      });
  });
}
