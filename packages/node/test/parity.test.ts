/**
 * Parity of images between nodes: a real server, and headless nodes and tabs that are killed and closed. A program
 * works for a while, so that its ranks take images by the clock, then waits for a line of input, which the test gives
 * when the fault is done.
 */
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { patient } from '@mayfly/testing';
import type { JobOptions, JobView, TimelineView, WaveView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { executable, launch, openTab, writePage } from './chromium.ts';
import { Bench, PATIENCE } from './harness.ts';

const webRoot = mkdtempSync(join(tmpdir(), 'mayfly-parity-'));
const bench = new Bench({ webRoot });
let browser: Browser | undefined;
const tabs = new Map<string, Page>();
beforeAll(async () => {
  if (executable) await writePage(webRoot);
  await bench.start();
});
afterEach(() => bench.clear(0));
afterAll(async () => {
  await browser?.close();
  await bench.close();
  rmSync(webRoot, { recursive: true, force: true });
});

/** Each step changes a part of half a megabyte, by what the neighbour has sent. */
const PROGRAM = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static double field[1 << 16];
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 1 << 16; i++) field[i] = rank + i * 1e-6;
  int steps = atoi(argv[1]);
  for (int n = 0; n < steps; n++) {
    double mine = field[n * 101 % (1 << 16)], theirs;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 1, &theirs, 1, MPI_DOUBLE, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 960; i++) field[(n * 960 + i) % (1 << 16)] += theirs * 1e-3;
    usleep(5000);
  }
  if (rank == 0) { char line[80]; if (!fgets(line, sizeof line, stdin)) return 3; }
  MPI_Barrier(MPI_COMM_WORLD);
  double sum = 0, all;
  for (int i = 0; i < 1 << 16; i++) sum += field[i] * (1 + i % 7);
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d: %.17g %.17g\\n", rank, size, sum, all);
  MPI_Finalize();
  return 0;
}`;
/** Their time lets ranks take images; what they send takes processor time. */
const STEPS = 250;
const LONGER = 600;
/** The same in this process: the first number that each rank prints. */
function sums(size: number, steps: number): number[] {
  const fields = Array.from({ length: size }, (_, r) => Float64Array.from({ length: 1 << 16 }, (_, i) => r + i * 1e-6));
  for (let n = 0; n < steps; n++) {
    const sent = fields.map((f) => f[(n * 101) % f.length]!);
    for (const [r, f] of fields.entries())
      for (let i = 0; i < 960; i++) f[(n * 960 + i) % f.length]! += sent[(r + size - 1) % size]! * 1e-3;
  }
  return fields.map((f) => f.reduce((sum, x, i) => sum + x * (1 + (i % 7)), 0));
}

/** Recovers itself, from checksums of its data that the others keep; waits at a step for a line of input. */
const CODED = `
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
enum { CELLS = 20000, HOLD = 6 };
static long cells[CELLS];
static int step, rank, size, reborn, held, from;
static jmp_buf here;
static void recovers(MPI_Comm *comm, int *rc, ...) {
  MPI_Comm whole = FT_MPI_CHECK_RECOVER;
  (void)rc;
  if (MPI_Comm_dup(*comm, &whole)) exit(9);
  longjmp(here, 1);
}
int main(int argc, char **argv) {
  MPI_Errhandler handler;
  MPI_Ckpt_options options = {.algorithm = MPI_CKPT_CHECKSUM};
  reborn = MPI_Init(&argc, &argv) == MPI_INIT_RESTARTED_NODE;
  int steps = atoi(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (MPI_Ckpt_open(&options)) exit(8);
  MPI_Comm_create_errhandler(recovers, &handler);
  held = reborn;
  if (setjmp(here)) reborn = 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (reborn) {
    if (MPI_Rollback(cells, CELLS, MPI_LONG, 1) || MPI_Rollback(&step, 1, MPI_INT, 2)) exit(7);
    from = step;
  } else {
    for (int i = 0; i < CELLS; i++) cells[i] = rank * 1000 + i;
    MPI_Ckpt(cells, CELLS, MPI_LONG, 1);
    MPI_Ckpt(&step, 1, MPI_INT, 2);
  }
  while (step < steps) {
    long left = 0;
    char line[80];
    if (step == HOLD && rank == 0 && !held++) {
      puts("holds");
      fflush(stdout);
      if (!fgets(line, sizeof line, stdin)) exit(6);
    }
    MPI_Sendrecv(&cells[CELLS - 1], 1, MPI_LONG, (rank + 1) % size, 0, &left, 1, MPI_LONG, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < CELLS; i++) cells[i] = (cells[i] * 31 + left + i) & 0xffffff;
    step++;
    MPI_Ckpt_here();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Ckpt_close();
  long sum = 0;
  for (int i = 0; i < CELLS; i++) sum += cells[i];
  printf("%d: %ld %s\\n", rank, sum, from >= HOLD - 1 ? "from its checkpoint" : "from elsewhere");
  MPI_Finalize();
  return 0;
}`;
/** What its ranks print. */
function coded(size: number, steps: number): string[] {
  const all = Array.from({ length: size }, (_, r) => Array.from({ length: 20_000 }, (_, i) => r * 1000 + i));
  for (let n = 0; n < steps; n++) {
    const sent = all.map((cells) => cells.at(-1)!);
    for (const [r, cells] of all.entries())
      for (const [i, x] of cells.entries()) cells[i] = (x * 31 + sent[(r + size - 1) % size]! + i) & 0xffffff;
  }
  return all.map((cells, r) => `${r}: ${cells.reduce((sum, x) => sum + x, 0)} from its checkpoint`);
}

async function submit(size: number, options: JobOptions, steps = STEPS, program = PROGRAM): Promise<string> {
  const answer = await bench.api('jobs', {
    method: 'POST',
    body: JSON.stringify({
      program: { language: 'c', flags: ['-O1'], sources: { 'main.c': program } },
      size,
      args: [String(steps)],
      options: {
        timeLimitMs: 600_000,
        // `app` takes no checkpoints, and refuses an interval.
        ...(options.protocol === 'app' ? {} : { checkpointMs: 250 }),
        interactive: true,
        ...options,
      },
    }),
  });
  return ((await answer.json()) as { id: string }).id;
}

/** So many tabs are open. */
async function openTabs(count: number): Promise<void> {
  browser ??= await launch();
  const names = ['one', 'two', 'three', 'four'].filter((name) => !tabs.has(name)).slice(0, count - tabs.size);
  await Promise.all(names.map(async (name) => tabs.set(name, await openTab(browser!, bench.server.url, name, 2))));
}
async function closeTab({ nodeName }: JobView['tasks'][number]): Promise<void> {
  await tabs.get(nodeName!)!.context().close();
  tabs.delete(nodeName!);
}

/** All ranks wait for the line of input, and the newest image of each is protected. */
const held = (id: string, spare: number): Promise<JobView> =>
  bench.until(
    id,
    (j) =>
      j.endedAt !== undefined ||
      (j.tasks.every(
        ({ state, activity: a }) =>
          state === 'running' && a?.state === 'waiting' && a.sends + (a.local?.sends ?? 0) >= STEPS,
      ) &&
        (j.parity?.spare ?? 0) >= spare),
  );

/** Everything that the server has of pages is overwritten: no image there can be read any more. */
function wipePages(): number {
  const packs = join(bench.dataDir, 'images', 'packs');
  let bytes = 0;
  for (const name of readdirSync(packs)) {
    const file = openSync(join(packs, name), 'r+');
    const { size } = fstatSync(file);
    writeSync(file, new Uint8Array(size), 0, size, 0);
    closeSync(file);
    bytes += size;
  }
  return bytes;
}

async function answer(id: string): Promise<{ job: JobView; stdout: string[] }> {
  await bench.input(id, 'go');
  const { job, stdout } = await bench.ended(id);
  expect(job.error).toBeUndefined();
  return { job, stdout };
}

const events = async (id: string): Promise<TimelineView['events']> =>
  ((await (await bench.api(`jobs/${id}/timeline`)).json()) as TimelineView).events;

let calm: string[];
describe('parity of images between nodes', () => {
  it('saves the server most of the pages, and the answer is that of a job without and without teams', async () => {
    for (let i = 0; i < 4; i++) await bench.node(2);
    const plain = await submit(4, { team: 1 });
    await held(plain, 0);
    ({ stdout: calm } = await answer(plain));
    const id = await submit(4, { parity: { checksums: 1, wholeEvery: 4 } });
    const view = await held(id, 1);
    expect(view.parity).toMatchObject({ checksums: 1, wholeEvery: 4, spare: 1, protectedRanks: 4, ranks: 4 });
    expect(view.tasks.map((t) => t.team)).toEqual([0, 0, 2, 2]);
    const { job, stdout } = await answer(id);
    expect(stdout).toEqual(calm);
    expect(job.parity!.images).toBeGreaterThan(4);
    expect(job.parity!.savedBytes).toBeGreaterThan(1 << 20);
  });

  /** The newest committed wave is near and its images are protected. */
  const nearWave = async (id: string, newer = 0): Promise<number> => {
    const newest = (j: JobView): WaveView | undefined => j.waves?.recent.findLast((w) => w.state === 'committed');
    const j = await bench.until(id, (v) => {
      const { near, wave = 0 } = newest(v) ?? {};
      return wave > newer && near === true && (v.waves?.committed ?? 0) > 3 && (v.parity?.spare ?? 0) > 0;
    });
    return newest(j)!.wave;
  };
  /** Near waves, then a whole one because somebody asks (the answer), then near ones for as long as a test needs. */
  const wholeBetweenNear = async (id: string): Promise<number> => {
    // The first of all may be whole, too.
    const first = await nearWave(id);
    const found = (j: JobView): WaveView | undefined =>
      j.waves?.recent.findLast((w) => w.state === 'committed' && w.images === 3 && !w.near && w.wave > first);
    await bench.api(`jobs/${id}/tasks/1/checkpoint`, { method: 'POST' });
    const whole = found(await bench.until(id, (j) => found(j) !== undefined))!.wave;
    await nearWave(id, whole);
    return whole;
  };

  it('vcl, two nodes killed at once with one checksum: all go back to the newest wave at the server, and why', async () => {
    for (let i = 0; i < 4; i++) await bench.node(2);
    const options: JobOptions = { protocol: 'vcl', checkpointMs: 100, parity: { checksums: 1, wholeEvery: 1000 } };
    const id = await submit(3, options, LONGER);
    const whole = await wholeBetweenNear(id);
    const { tasks } = await bench.view(id);
    for (const t of tasks.slice(0, 2)) bench.nodes.find((n) => n.node === t.node)!.kill();
    const view = await bench.recovered(id, 2);
    expect(view.parity!.fellBack).toBeGreaterThan(0);
    expect(view.parity!.reason).toBe('2 of the 3 ranks of its parity group are lost and 1 of 1 checksums left');
    const [fell] = (await events(id)).filter((e) => e.kind === 'fellBack');
    expect(fell?.cause).toBe(view.parity!.reason);
    expect(view.waves!.rolledBack[0]!.wave).toBe(whole);
    const { stdout } = await answer(id);
    expect(stdout.map((line) => Number(line.split(' ')[3]))).toEqual(sums(3, LONGER));
  });

  it('two teams lost at once with one checksum: back to the images at the server, and the time line says why', async () => {
    for (let i = 0; i < 4; i++) await bench.node(2);
    const id = await submit(4, { parity: { checksums: 1, wholeEvery: 1000 } });
    const { tasks } = await held(id, 1);
    for (const t of [tasks[0]!, tasks[2]!]) bench.nodes.find((n) => n.node === t.node)!.kill();
    await bench.recovered(id, 4);
    const view = await bench.view(id);
    expect(view.parity).toMatchObject({ rebuilt: 0, fellBack: 2 });
    expect(view.parity!.reason).toBe('2 of the 2 ranks of its parity group are lost and 1 of 1 checksums left');
    const [fell] = (await events(id)).filter((e) => e.kind === 'fellBack');
    expect(fell?.cause).toBe(view.parity!.reason);
    expect((await answer(id)).stdout).toEqual(calm);
  });

  /** @param restartGraceMs the server waits no longer for nodes with images */
  const restart = async (restartGraceMs = PATIENCE.restartGraceMs): Promise<void> => {
    const { port } = new URL(bench.server.url);
    await bench.server.close();
    await bench.start(Number(port), { ...PATIENCE, restartGraceMs });
  };
  const wentBack = (id: string): Promise<JobView> =>
    bench.until(id, (j) => (j.waves?.rolledBack.length ?? 0) > 0 && j.tasks.every((t) => t.state === 'running'));

  it('vcl, the server restarts: all go on from the newest wave, whose images only the nodes have', async () => {
    for (let i = 0; i < 4; i++) await bench.node(2);
    const id = await submit(
      3,
      { protocol: 'vcl', checkpointMs: 100, parity: { checksums: 1, wholeEvery: 1000 } },
      LONGER,
    );
    const wave = await nearWave(id);
    await restart();
    const { parity, waves } = await wentBack(id);
    const [back] = waves!.rolledBack;
    expect(back).toMatchObject({ cause: 'server' });
    expect(back!.wave).toBeGreaterThanOrEqual(wave);
    expect(parity).toMatchObject({ fellBack: 0 });
    // All its images came to the server.
    expect(waves!.recent.find((w) => w.wave === back!.wave)?.near).toBeUndefined();
    const { stdout } = await answer(id);
    expect(stdout.map((line) => Number(line.split(' ')[3]))).toEqual(sums(3, LONGER));
  });

  it('vcl, the server restarts and a node with an image is gone: back to the newest whole wave, and why', async () => {
    for (let i = 0; i < 4; i++) await bench.node(2);
    const id = await submit(
      3,
      { protocol: 'vcl', checkpointMs: 100, parity: { checksums: 1, wholeEvery: 1000 } },
      LONGER,
    );
    const whole = await wholeBetweenNear(id);
    const { tasks } = await bench.view(id);
    bench.nodes.find((n) => n.node === tasks[1]!.node)!.kill();
    await restart(patient(4000));
    const { parity, waves } = await wentBack(id);
    expect(waves!.rolledBack[0]!.wave).toBe(whole);
    expect(parity!.fellBack).toBeGreaterThan(0);
    expect(parity!.reason).toMatch(/no node that is connected has its image$/);
    const { stdout } = await answer(id);
    expect(stdout.map((line) => Number(line.split(' ')[3]))).toEqual(sums(3, LONGER));
  });

  // From here on no page at the server can be read, and jobs share pages.
  it('a killed node: its rank goes on from parity, although no page at the server can be read', async () => {
    for (let i = 0; i < 4; i++) await bench.node(2);
    const id = await submit(4, { team: 1, parity: { checksums: 1, wholeEvery: 1000 } });
    const before = await held(id, 1);
    const lost = before.tasks[1]!;
    expect(wipePages()).toBeGreaterThan(0);
    bench.nodes.find((n) => n.node === lost.node)!.kill();
    await bench.recovered(id, 1);
    // Three nodes are left, and the groups begin again. The rank that moved is in one from its next image on.
    await bench.api(`jobs/${id}/tasks/1/checkpoint`, { method: 'POST' });
    const again = await held(id, 1);
    expect(again.parity).toMatchObject({ rebuilt: 1, fellBack: 0 });
    expect((await events(id)).filter((e) => e.kind === 'rebuilt')).toMatchObject([{ task: 1 }]);
    const { job, stdout } = await answer(id);
    expect(stdout).toEqual(calm);
    expect(job.tasks.map((t) => t.incarnation)).toEqual([0, 1, 0, 0]);
  });

  it('a killed node with a team: it goes on from parity, although no page at the server can be read', async () => {
    for (let i = 0; i < 3; i++) await bench.node(2);
    const id = await submit(4, { team: 2, parity: { checksums: 1, wholeEvery: 1000 } });
    const before = await held(id, 1);
    expect(wipePages()).toBeGreaterThan(0);
    bench.nodes.find((n) => n.node === before.tasks[1]!.node)!.kill();
    await bench.recovered(id, 2);
    const { job, stdout } = await answer(id);
    expect(stdout).toEqual(calm);
    expect(job.parity).toMatchObject({ rebuilt: 2, fellBack: 0 });
    expect(job.tasks.map((t) => t.incarnation)).toEqual([1, 1, 0, 0]);
  });

  it.each(['vcl', 'pcl'] as const)(
    '%s, a killed node: all ranks go back to a wave whose images the nodes have, and no page at the server can be read',
    async (protocol) => {
      for (let i = 0; i < 4; i++) await bench.node(2);
      const id = await submit(4, { protocol, parity: { checksums: 1, wholeEvery: 1000 } });
      const before = await held(id, 1);
      expect(before.parity).toMatchObject({ spare: 1, protectedRanks: 4, ranks: 4 });
      wipePages();
      bench.nodes.find((n) => n.node === before.tasks[1]!.node)!.kill();
      const { parity, waves } = await bench.recovered(id, 1);
      expect(parity).toMatchObject({ rebuilt: 1, fellBack: 0 });
      expect((await events(id)).filter((e) => e.kind === 'rebuilt')).toMatchObject([{ task: 1 }]);
      // Not the start of the program.
      expect(waves!.rolledBack.at(-1)!.wave).toBeGreaterThan(0);
      const { job, stdout } = await answer(id);
      expect(stdout).toEqual(calm);
      expect(job.tasks.every((t) => (t.incarnation ?? 0) > 0)).toBe(true);
    },
  );

  it.runIf(executable)('four tabs of Chromium, of which one is closed: its ranks go on from the others', async () => {
    await openTabs(4);
    const id = await submit(4, { parity: { checksums: 1, wholeEvery: 1000 } });
    const before = await held(id, 1);
    expect(wipePages()).toBeGreaterThan(0);
    await closeTab(before.tasks[2]!);
    const { parity, tasks } = await bench.recovered(id, before.faults.length + 2);
    expect(parity).toMatchObject({ rebuilt: 2, fellBack: 0 });
    const lost = tasks.map((t, i) => (t.incarnation ?? 0) - (before.tasks[i]!.incarnation ?? 0));
    expect(lost).toEqual([0, 0, 1, 1]);
    await answer(id);
  });

  it.runIf(executable)('a program in C that keeps checksums of its own data goes on when a tab is closed', async () => {
    await openTabs(3);
    const options = { protocol: 'app', ft: { communicators: 'rebuild' }, mapBy: 'node' } as const;
    const id = await submit(3, options, 10, CODED);
    const { tasks } = await bench.until(id, (j) => j.outputBytes > 0);
    const closed = tasks.find((t) => t.node !== tasks[0]!.node)!;
    await closeTab(closed);
    await bench.until(id, (j) => j.faults.length > 0);
    const { job, stdout } = await answer(id);
    const lost = tasks.flatMap((t) => (t.node === closed.node ? [t.task] : []));
    expect(job.tasks.flatMap((t) => t.replaces ?? [])).toEqual(lost);
    const lines = job.tasks.flatMap((t, i) => (lost.includes(t.task) ? [] : [stdout[i]!.split('\n').at(-2)]));
    expect(lines.sort()).toEqual(coded(3, 10));
  });
});
