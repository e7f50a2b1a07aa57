/**
 * A job of two clusters in two rooms, as people run it: submitted from the form, computed by tabs of both rooms, and
 * all tabs of one room closed, once where the other cluster depends on what that undoes, and once where it does not.
 */
import { expect, test } from '@playwright/test';
import type { JobView } from '@mayfly/wire';
import { Client } from '../src/client.ts';
import { headline, openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { serious } from '../src/looks.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;
let client: Client;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
});
test.afterAll(() => server?.stop());
showLogOnFailure(() => server);

/**
 * Ranks fold in what they get from their own cluster and from the other one; a message that is lost, comes twice or is
 * of an undone life changes what they print. Before each half, rank 2 sends to rank 0 once no other message can come to
 * its cluster, and all wait for a line: from then on cluster 0 depends on the newest interval of cluster 1.
 */
const COUPLED = `#include <mpi.h>
#include <stdio.h>
#define LONG MPI_UNSIGNED_LONG_LONG
int main(int argc, char **argv) {
  MPI_Comm own;
  int rank;
  char line[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &own);
  unsigned long long v = rank + 1, in;
  for (int half = 0; half < 2; half++) {
    for (int step = 0; step < 20; step++) {
      int to = step % 4 ? rank ^ 1 : rank ^ 2;
      MPI_Sendrecv(&v, 1, LONG, to, 1, &in, 1, LONG, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      v = v * 6364136223846793005ULL + in + step;
    }
    MPI_Barrier(own);
    if (rank == 2) MPI_Send(&v, 1, LONG, 0, 2, MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Recv(&in, 1, LONG, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      v += in;
      if (!fgets(line, sizeof line, stdin)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(&v, 1, LONG, 0, MPI_COMM_WORLD);
    v += rank;
  }
  printf("rank %d: %llx\\n", rank, v);
  MPI_Finalize();
  return 0;
}
`;

function answer(): string[] {
  const wrap = (x: bigint): bigint => x & 0xffff_ffff_ffff_ffffn;
  let v = [1n, 2n, 3n, 4n];
  for (let half = 0; half < 2; half++) {
    for (let step = 0; step < 20; step++)
      v = v.map((x, r) => wrap(x * 6364136223846793005n + v[step % 4 ? r ^ 1 : r ^ 2]! + BigInt(step)));
    const all = wrap(v[0]! + v[2]!);
    v = v.map((_, r) => wrap(all + BigInt(r)));
  }
  return v.map((x, r) => `rank ${r}: ${x.toString(16)}\n`);
}

const incarnations = (job: JobView): number[] => job.tasks.map((t) => t.incarnation);
/** Clusters that have gone back since `before`. */
const back = (job: JobView, before: JobView): number[] =>
  [...new Set(job.waves!.rolledBack.slice(before.waves!.rollbacks).map((b) => b.cluster!))].sort();

test('clusters in rooms: a room’s tabs are all closed, and only the clusters of the line go back', async ({
  page,
  browser,
}, info) => {
  const open = async (name: string): Promise<string> =>
    (await client.json<{ code: string }>('POST', '/api/rooms', { name })).code;
  const [lab, hall] = [await open('Lab'), await open('Hall')];
  await openDashboard(page, server, '/new');
  const upload = page.locator('.source-bar input[type=file]').first();
  await upload.setInputFiles({ name: 'main.c', mimeType: 'text/x-c', buffer: Buffer.from(COUPLED) });
  await page.getByRole('textbox', { name: 'Ranks' }).fill('4');
  await page.getByText('Standard input and options').click();
  await page.getByLabel(/^Its cluster goes back/).check();
  await page.getByLabel(/Keep it open/).check();
  await page.getByRole('spinbutton', { name: /^Checkpoint every/ }).fill('600');
  await page.getByLabel(/^A room for each cluster/).check();
  await page.getByLabel('Room of cluster 0').selectOption(lab);
  await page.getByLabel('Room of cluster 1').selectOption(hall);
  await expect(page.getByText(`Room ${lab}: Needs 2 slots; none available.`)).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await page.getByRole('button', { name: 'Submit' }).click();

  await expect(headline(page)).toContainText(
    `needs 2 slots; none available in room ${lab}; needs 2 slots; none available in room ${hall}`,
  );
  await expect(page.getByRole('link', { name: 'Compute in a new tab (2 slots)' })).toHaveAttribute(
    'href',
    new RegExp(`room=${lab}`),
  );
  const id = new URL(page.url()).pathname.split('/').at(-1)!;
  const come = (name: string, room: string, slots: number) => Tab.open(browser, server.url, name, slots, room);
  const inLab = await come('lab', lab, 4);
  await expect(headline(page)).toContainText(`needs 2 slots; none available in room ${hall}`);
  let inHall = await Promise.all([come('hall-1', hall, 1), come('hall-2', hall, 1)]);

  /** All ranks wait for the line that rank 0 waits for. `since`: the clusters have gone back meanwhile. */
  const held = (what: string, since?: JobView, clusters: number[] = []) =>
    client.until(
      id,
      what,
      (j) =>
        j.tasks[0]?.activity?.call === 'stdin' &&
        j.tasks.every((t) => t.state === 'running' && t.activity?.state === 'waiting') &&
        j.waves!.clusters!.every((c) => c.waiting === 0) &&
        (!since || clusters.every((c) => back(j, since).includes(c))),
    );
  const first = await held('held for the first line');
  expect(first.tasks.map((t) => t.nodeName?.split('-')[0])).toEqual(['lab', 'lab', 'hall', 'hall']);
  const [zero, one] = first.waves!.clusters!;
  expect(zero!.ddv[1], 'cluster 0 depends on the newest interval of cluster 1').toBe(one!.sn);

  // Cluster 0 has received what this undoes: the line takes it back as well, to its checkpoint before that.
  for (const tab of inHall) await tab.close();
  await expect(headline(page)).toContainText(`no node is connected in room ${hall}`);
  inHall = await Promise.all([come('hall-3', hall, 1), come('hall-4', hall, 1)]);
  const second = await held('held again', first, [1]);
  expect(back(second, first)).toEqual([0, 1]);
  for (const [rank, n] of incarnations(second).entries()) expect(n).toBeGreaterThan(first.tasks[rank]!.incarnation);

  // The page says so: an arrow from cluster 1 to cluster 0, and in words.
  expect(second.waves!.rolledBack.find((b) => b.cluster === 0)).toMatchObject({ alertedBy: [1] });
  await page.goto(`${server.url}/dashboard/jobs/${id}?view=timeline`);
  await expect(page.getByTestId('timeline')).toHaveAttribute('data-alerts', '1');
  await info.attach('an alert', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
  await page.goto(`${server.url}/dashboard/jobs/${id}?view=faults`);
  await expect(page.getByLabel('Rollbacks, newest first')).toContainText('it depends on what cluster 1 undoes');
  await page.goto(`${server.url}/dashboard/jobs/${id}`);

  // Once cluster 1 has a checkpoint behind what it sent, cluster 0 does not depend on what a loss of it undoes.
  await client.json('POST', `/api/jobs/${id}/checkpoint`);
  await client.until(id, 'checkpointed', (j) =>
    j.waves!.clusters!.every((c) => c.sn > second.waves!.clusters![c.cluster]!.sn),
  );
  for (const tab of inHall) await tab.close();
  await expect(headline(page)).toContainText(`no node is connected in room ${hall}`);
  inHall = await Promise.all([come('hall-5', hall, 1), come('hall-6', hall, 1)]);
  const third = await held('held once more', second, [1]);
  expect(back(third, second)).toEqual([1]);
  expect(incarnations(third).slice(0, 2)).toEqual(incarnations(second).slice(0, 2));
  for (const rank of [2, 3]) expect(third.tasks[rank]!.incarnation).toBeGreaterThan(second.tasks[rank]!.incarnation);

  await client.input(id, 'a');
  await client.input(id, 'b');
  const done = await client.ended(id);
  expect(done).toMatchObject({ state: 'done' });
  expect((await client.answer(done)).stdout).toEqual(answer());
  for (const tab of [inLab, ...inHall]) await tab.close();
});
