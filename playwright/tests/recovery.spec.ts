/**
 * What becomes of a C rank that waits in MPI_Recv when it is killed, and when its volunteer leaves; and what the time
 * line tells of it afterwards.
 */
import { inflateRawSync } from 'node:zlib';
import { expect, test, type Page } from '@playwright/test';
import { LANE_KINDS, type ComparisonView, type JobView, type ProfileView, type TimelineView } from '@mayfly/wire';
import { Client, type Program } from '../src/client.ts';
import { headline, openDashboard } from '../src/dashboard.ts';
import { showLogOnFailure } from '../src/failure.ts';
import { shifts, watchShifts } from '../src/looks.ts';
import { HeadlessProcess } from '../src/nodes/headless.ts';
import { ServerProcess } from '../src/server.ts';
import { Tab } from '../src/tabs.ts';

let server: ServerProcess;
let client: Client;
let elsewhere: HeadlessProcess | undefined;

test.beforeAll(async () => {
  server = await ServerProcess.start();
  client = new Client(server);
});
test.afterAll(async () => {
  await elsewhere?.dispose();
  await server?.stop();
});
showLogOnFailure(() => server);

/** Work, a barrier, and a wait: rank 1 for rank 0, and that for a line of standard input. Then work again. */
const WAITS: Program = {
  name: 'waits',
  program: {
    language: 'c',
    flags: ['-g'],
    sources: {
      'main.c': `#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
static uint64_t work(uint64_t x) {
  for (uint64_t i = 0; i < 200000000; i++) x = (x ^ x >> 29) * 6364136223846793005u + i;
  return x;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  uint64_t heard = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  uint64_t mine = work(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d has %llu\\n", rank, (unsigned long long)mine);
  fflush(stdout);
  if (rank == 0) {
    heard = getchar();
    MPI_Send(&heard, 1, MPI_UINT64_T, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&heard, 1, MPI_UINT64_T, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank 1 has %llu of %llu\\n", (unsigned long long)work(mine + heard), (unsigned long long)heard);
  }
  MPI_Finalize();
  return 0;
}
`,
    },
  },
};

/** Once rank 0 has read a line, ranks print one, wait until it has read another, and print a second one. */
const PRINTS: Program = {
  name: 'prints',
  program: {
    language: 'c',
    sources: {
      'main.c': `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) getchar();
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d begins\\n", rank);
  if (rank == 0) getchar();
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d ends\\n", rank);
  MPI_Finalize();
  return 0;
}
`,
    },
  },
};

const profileOf = (id: string): Promise<ProfileView> => client.json<ProfileView>('GET', `/api/jobs/${id}/profile`);
const replayed = async (id: string): Promise<number> => (await profileOf(id)).ranks[1]!.ms.replaying ?? 0;

test(
  'a C rank that waits in MPI_Recv replays when it is killed, and does not when its volunteer leaves; the time ' +
    'line tells both',
  async ({ page, browser }, info) => {
    const tab = await Tab.open(browser, server.url, 'leaves', 2);
    const { id } = await client.submit(WAITS, 2, [], { interactive: true, team: 1, checkpointMs: 600_000 });
    const waits = (incarnation: number) =>
      client.until(
        id,
        `waiting as incarnation ${incarnation}`,
        ({ tasks: [zero, one] }) =>
          zero?.activity?.call === 'stdin' &&
          one?.incarnation === incarnation &&
          one.state === 'running' &&
          one.activity?.call === 'MPI_Recv',
      );
    const where = (j: JobView) => j.tasks.map((t) => t.activity?.place)[1];
    await waits(0);
    await client.until(id, 'seen where it waits', (j) => where(j) === 'main (main.c:21)');
    expect((await client.request('POST', `/api/jobs/${id}/tasks/1/kill`)).ok).toBe(true);
    await waits(1);
    const fromStart = await replayed(id);
    expect(fromStart).toBeGreaterThan(0);

    // Nobody has taken an image so far: the one that it leaves with is where it goes on.
    expect((await client.job(id)).tasks.map((t) => t.images)).toEqual([0, 0]);
    elsewhere = await HeadlessProcess.start(server.url, 'goes-on', 2);
    await tab.page.getByRole('button', { name: 'Finish this step and leave' }).click();
    await expect(tab.page.getByTestId('volunteer-state')).toHaveText('Off');
    for (const rank of [0, 1])
      await expect(tab.page.getByLabel('Events, newest first')).toContainText(`Checkpoint of rank ${rank} stored`);
    const left = await waits(2);
    await client.until(id, 'seen where it waits', (j) => where(j) === 'main (main.c:21)'); // also out of an image
    expect(left.tasks.map((t) => t.nodeName)).toEqual(['goes-on', 'goes-on']);
    expect(left.tasks.every((t) => t.images >= 1)).toBe(true);
    expect(left.faults.map((f) => `${f.task} ${f.cause}`).sort()).toEqual(['0 goodbye', '1 goodbye', '1 killed']);
    await expect
      .poll(async () =>
        (await profileOf(id)).ranks[1]!.calls.find((c) => c.call === 'MPI_Recv')?.places.map((p) => p.place),
      )
      .toEqual(['main (main.c:21)']);
    await client.input(id, 'x');
    const done = await client.ended(id);
    expect(done.error).toBeUndefined();
    expect((await replayed(id)) - fromStart).toBeLessThan(fromStart / 2);
    // The same again, undisturbed.
    const again = await client.json<{ id: string }>('POST', `/api/jobs/${id}/again`, {});
    expect((await client.ended(again.id)).faults).toEqual([]);
    const { runs } = await client.json<ComparisonView>('GET', `/api/jobs/${id}/comparison`);
    expect(runs.map((r) => [r.job, r.same])).toEqual([[again.id, true]]);
    await elsewhere.stop();
    await tab.close();

    // The time line, scrubbed back to the replay, says of every second of rank 1 what REST says of it.
    const killed = done.faults.find((f) => f.cause === 'killed')!;
    const told = await client.json<TimelineView>('GET', `/api/jobs/${id}/timeline?first=1&last=1&columns=2048`);
    const columns = [...columnsOf(told)];
    await openDashboard(page, server, `/jobs/${id}?view=timeline`);
    await expect(page.getByTestId('timeline')).toHaveAttribute('data-known', 'yes');
    const whole = (await page.getByTestId('timeline-range').textContent())!;
    await page.getByRole('button', { name: 'Zoom in' }).click();
    const bar = (await page.locator('.scrub').boundingBox())!;
    await page.mouse.click(
      bar.x + (bar.width * (killed.at - told.since)) / (told.until - told.since),
      bar.y + bar.height / 2,
    );
    const at = (killed.at - told.since) / 1000;
    await expect(page.getByTestId('timeline-range')).not.toHaveText(whole);
    await expect.poll(async () => rangeOf(page).then(([from, to]) => from - 1 <= at && at <= to + 1)).toBe(true);
    await info.attach('the replay', { body: await page.screenshot({ fullPage: true }), contentType: 'image/png' });
    await expect.poll(() => coloursOf(page, 1)).toContain('169,123,224'); // replaying
    await page.getByTestId('timeline').focus();
    await page.keyboard.press('ArrowDown');
    for (let i = 0; i < columns.length; i++) await page.keyboard.press('ArrowLeft');
    for (const [i, shares] of columns.entries()) {
      if (i > 0) await page.keyboard.press('ArrowRight');
      // The last second ends with the job.
      await expect(page.getByTestId('timeline-cell')).toContainText(
        `Rank 1, ${clock(i)} to ${i + 1 < columns.length ? `${clock(i + 1)} · ` : ''}`,
      );
      await expect(page.getByTestId('timeline-cell')).toContainText(` · ${said(shares)}`);
    }
    // Dead, then replay, then the work behind the message.
    const has = (kind: string, from: number) => columns.findIndex((c, i) => i >= from && (c.get(kind) ?? 0) > 0);
    const fault = Math.floor(at);
    const dead = has('dead', fault);
    const replay = has('replaying', dead);
    // A loss in the last milliseconds of a second is seen in the next.
    expect([fault, fault + 1]).toContain(dead);
    expect(columns.slice(0, dead).some((c) => c.has('replaying'))).toBe(false);
    expect(replay).toBeGreaterThanOrEqual(dead);
    expect(has('computing', replay)).toBeGreaterThanOrEqual(replay);
    expect(columns.findLastIndex((c) => c.has('computing'))).toBeGreaterThan(
      columns.findLastIndex((c) => c.has('dead')),
    );
  },
);

/** Shares of each kind by second, as REST tells them. */
function* columnsOf(t: TimelineView): Generator<Map<string, number>> {
  expect(t.widthMs).toBe(1000);
  const shares = inflateRawSync(Buffer.from(t.shares, 'base64'));
  for (let c = 0; c < t.columns; c++)
    yield new Map(
      LANE_KINDS.map((kind, k): [string, number] => [kind, shares[c * LANE_KINDS.length + k]!]).filter(
        ([, x]) => x > 0,
      ),
    );
}

/** Kinds that the page calls by another name. */
const NAMES: Record<string, string> = { checkpointing: 'checkpoint', dead: 'without a node' };

/** As the page says them: of the known part, the greatest first. */
function said(shares: ReadonlyMap<string, number>): string {
  const sum = [...shares.values()].reduce((a, b) => a + b, 0);
  if (sum / 255 < 0.02) return 'no data';
  const percent = (x: number): string => (x >= 0.995 ? '100 %' : x < 0.01 ? '< 1 %' : `${Math.round(100 * x)} %`);
  return [...shares]
    .sort((a, b) => b[1] - a[1])
    .map(([kind, x]) => `${NAMES[kind] ?? kind} ${percent(x / sum)}`)
    .join(', ');
}

const clock = (s: number): string => `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;

/** What the canvas has in the lane of a rank: rows of 24 px under an axis of 22 px. */
const coloursOf = (page: Page, rank: number): Promise<string[]> =>
  page.getByTestId('timeline').evaluate((canvas: HTMLCanvasElement, rank) => {
    const { data } = canvas
      .getContext('2d')!
      .getImageData(0, (22 + 24 * rank + 2) * devicePixelRatio, canvas.width, 20 * devicePixelRatio);
    const seen = new Set<string>();
    for (let i = 0; i < data.length; i += 4) seen.add(data.subarray(i, i + 3).join());
    return [...seen];
  }, rank);

/** Seconds that the lanes show. */
async function rangeOf(page: Page): Promise<[number, number]> {
  const [, m0, s0, m1, s1] = /(\d+):(\d+) to (\d+):(\d+)/
    .exec((await page.getByTestId('timeline-range').textContent())!)!
    .map(Number);
  return [60 * m0! + s0!, 60 * m1! + s1!];
}

test('under pcl output is grey until it is final; a loss takes it back, and it comes again', async ({
  page,
  browser,
}) => {
  const output = page.getByTestId('output');
  const provisional = output.getByRole('group', { name: 'Not final yet' });
  /**
   * A job whose tab is closed when the page shows what its ranks have printed. `kept`: a wave came before that, since
   * output asks for one when it has waited for five seconds; so pages are there before anything is printed.
   */
  const lost = async () => {
    const tab = await Tab.open(browser, server.url, 'grey', 2);
    const { id } = await client.submit(PRINTS, 2, [], { protocol: 'pcl', checkpointMs: 600_000, interactive: true });
    await client.until(id, 'waiting', (j) => j.tasks.length === 2 && j.tasks.every((t) => t.activity !== undefined));
    await openDashboard(page, server, `/jobs/${id}?view=output`);
    await expect(page.getByRole('button', { name: 'Cancel job' })).toBeVisible();

    // Somebody watches faults and waves from before the first of them, and nothing moves.
    const watcher = await browser.newPage({ viewport: { width: 360, height: 4000 } });
    await openDashboard(watcher, server, `/jobs/${id}?view=faults`);
    await expect(watcher.getByRole('button', { name: 'Cancel job' })).toBeVisible(); // it knows who looks
    await expect(watcher.getByTestId('events')).toContainText('assigned to a node');
    await expect(watcher.getByLabel('Checkpoints by rank').getByRole('row')).toHaveCount(3);
    await watchShifts(watcher);

    await client.input(id);
    for (const rank of [0, 1]) await expect(output).toContainText(`rank ${rank} begins`);
    const grey = await provisional.locator('.line', { hasText: 'begins' }).count();
    await tab.close();
    const { waves } = await client.until(id, 'rolled back', (j) => (j.waves?.rollbacks ?? 0) > 0);
    return { id, watcher, grey, kept: waves!.rolledBack.at(-1)!.wave > 0 };
  };
  let { id, watcher, grey, kept } = await lost();
  while (kept) {
    await client.json('POST', `/api/jobs/${id}/cancel`);
    await watcher.close();
    ({ id, watcher, grey, kept } = await lost());
  }
  expect(grey).toBe(2);
  await expect(provisional).toHaveCount(0);
  const other = await Tab.open(browser, server.url, 'other', 2);
  for (const rank of [0, 1]) await expect(provisional).toContainText(`rank ${rank} begins`);
  await client.input(id);
  await client.until(id, 'done', ({ state }) => state === 'done');
  await expect(provisional).toHaveCount(0);
  for (const what of ['begins', 'ends']) await expect(output.locator('.line', { hasText: what })).toHaveCount(2);
  await expect(headline(watcher)).toContainText('Done');
  await expect(watcher.getByLabel('Rollbacks, newest first')).toContainText('the start');
  // The last one is announced where one was abandoned before it.
  const known = watcher.getByLabel('Waves, newest first');
  const newer = watcher.getByRole('button', { name: /^Show \d+ new waves?$/ });
  await expect(known.filter({ hasText: 'committed' }).or(newer).first()).toBeVisible();
  if (await newer.isVisible()) await newer.click();
  await expect(known).toContainText('committed');
  expect(await shifts(watcher)).toEqual([]);
  await watcher.close();
  await other.close();
});
