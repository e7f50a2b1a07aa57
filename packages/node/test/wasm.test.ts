/**
 * C programs as ranks, on headless nodes and in tabs against a real server: images while they compute and while they
 * wait, restores on another engine, ends. Programs wait at their end for a line of input, which the test gives when the
 * fault is done; images are asked for, not timed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { buildModule } from '@mayfly/toolchain/c';
import type { JobOptions, JobView, NodeDetail } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { executable, launch, openTab, writePage } from './chromium.ts';
import { Bench } from './harness.ts';

const webRoot = mkdtempSync(join(tmpdir(), 'mayfly-wasm-'));
const bench = new Bench({ webRoot });
let browser: Browser | undefined;

beforeAll(async () => {
  if (executable) await writePage(webRoot);
  await bench.start();
});
afterEach(async () => {
  await Promise.all((browser?.contexts() ?? []).map((c) => c.close()));
  await bench.clear(0);
});
afterAll(async () => {
  await browser?.close();
  await bench.close();
  rmSync(webRoot, { recursive: true, force: true });
});

/** Two parents spawn two children; all of them are held until there is a line of input. */
const SPAWNING = `
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Comm parent, kids; int rank, size, n, x, y, flag, code, *slots; char line[8], *args[] = {"x", NULL};
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &slots, &flag);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 50, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &kids, MPI_ERRCODES_IGNORE);
    printf("parent %d of %d, %d slots: %s\\n", rank, size, *slots, code == MPI_ERR_SPAWN ? "MPI_ERR_SPAWN" : "?");
    MPI_Comm_spawn(argv[0], args, 2, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &kids, MPI_ERRCODES_IGNORE);
    printf("held\\n");
    fflush(stdout);
    if (rank == 0) fgets(line, 8, stdin);
    MPI_Barrier(kids);
    x = rank + 7;
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, kids);
    MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_disconnect(&kids);
    printf("children say %d %d\\n", n, y);
  } else {
    MPI_Comm_remote_size(parent, &n);
    printf("child %d of %d of %d parents: %s\\n", rank, size, n, argv[1]);
    printf("held\\n");
    fflush(stdout);
    MPI_Barrier(parent);
    x = 2 * rank + 2;
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
    printf("parents say %d\\n", y - 1);
  }
  MPI_Finalize();
  return 0;
}`;

const NEVER = 86_400_000;
const built = new Map<string, string>();
async function submit(
  source: string,
  size: number,
  more: { args?: string[]; files?: Record<string, string>; options?: JobOptions; flags?: string[] } = {},
): Promise<string> {
  let module = built.get(source);
  if (!module)
    built.set(
      source,
      (module = Buffer.from(buildModule({ '/main.c': source }, { flags: more.flags ?? ['-O1', '-g'] }).wasm).toString(
        'base64',
      )),
    );
  const answer = await bench.api('jobs', {
    method: 'POST',
    body: JSON.stringify({
      program: { language: 'wasm', module, entry: 'main.wasm' },
      size,
      args: more.args ?? [],
      files: Object.fromEntries(
        Object.entries(more.files ?? {}).map(([k, v]) => [k, Buffer.from(v).toString('base64')]),
      ),
      options: { timeLimitMs: 600_000, checkpointMs: NEVER, interactive: true, ...more.options },
    }),
  });
  return ((await answer.json()) as { id: string }).id;
}

/** Every rank takes an image now, because the server is asked or for another reason, and the server has it whole. */
async function checkpoint(id: string, because?: () => Promise<unknown>): Promise<JobView> {
  const { tasks } = await bench.view(id);
  const images = async (): Promise<number[]> => {
    const all = (await (await bench.api(`jobs/${id}/images`)).json()) as { task: number; serial: number }[];
    return tasks.map(({ task }) => Math.max(0, ...all.filter((i) => i.task === task).map((i) => i.serial)));
  };
  const serials = await images();
  if (because) await because();
  else for (const t of tasks) await bench.api(`jobs/${id}/tasks/${t.task}/checkpoint`, { method: 'POST' });
  let now = serials;
  await bench.until(id, (j) => {
    void images().then((n) => (now = n));
    return j.endedAt !== undefined || now.every((n, i) => n > serials[i]!);
  });
  return bench.view(id);
}

async function results(
  id: string,
): Promise<{ job: JobView; stdout: string[]; stderr: string[]; files: Record<string, string> }> {
  const all = await bench.ended(id);
  const files: Record<string, string> = {};
  for (const o of all.job.outputs) files[o.path] = await (await bench.api(`jobs/${id}/files/${o.path}`)).text();
  return { ...all, files };
}

/** All ranks are at the end of the program, where they wait. */
const held = (id: string): Promise<JobView> =>
  bench.until(
    id,
    (j) =>
      j.endedAt !== undefined ||
      j.tasks.every(
        ({ state, activity: a }) =>
          state === 'running' && a?.state === 'waiting' && a.sends + (a.local?.sends ?? 0) >= 40,
      ),
  );

/** A ring whose state is on the stack, the heap, in static memory and in a file; the stack is deep when it waits. */
const RING = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double history[4096];
static int rank, size;
typedef double (*step_t)(int depth, double x, int step);
static double step(int depth, double x, int n) {
  char pad[64]; memset(pad, depth, sizeof pad);
  if (depth > 0) return step(depth - 1, x, n) + pad[3] * 1e-3;
  double got;
  MPI_Request r;
  MPI_Irecv(&got, 1, MPI_DOUBLE, (rank + size - 1) % size, n, MPI_COMM_WORLD, &r);
  MPI_Send(&x, 1, MPI_DOUBLE, (rank + 1) % size, n, MPI_COMM_WORLD);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  return x * 0.5 + got + rank;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int steps = atoi(argv[1]);
  step_t volatile through = step;
  char name[32]; sprintf(name, "out%d.txt", rank);
  FILE *f = fopen(name, "w");
  double *x = malloc(sizeof *x * (steps + 1)); x[0] = rank + 1;
  for (int i = 0; i < steps; i++) {
    x[i + 1] = through(i % 7, x[i], i) * 1e-1;
    history[i % 4096] = x[i + 1];
    if (i % 10 == 0) { printf("step %d\\n", i); fprintf(f, "%d %.17g\\n", i, x[i + 1]); }
  }
  double sum = 0, all;
  if (rank == 0) { char line[80]; if (!fgets(line, sizeof line, stdin)) return 3; printf("told %s", line); }
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 4096; i++) sum += history[i];
  MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d: %.17g %.17g\\n", rank, size, sum, all);
  fprintf(f, "end %.17g\\n", all);
  fclose(f);
  MPI_Finalize();
  return 0;
}`;

async function calm(): Promise<{ stdout: string[]; files: Record<string, string> }> {
  const node = await bench.node(4);
  const id = await submit(RING, 4, { args: ['50'] });
  await bench.input(id, 'go');
  const { job, stdout, files } = await results(id);
  expect(job.error).toBeUndefined();
  expect(files['out3.txt']).toContain('end ');
  bench.nodes.splice(bench.nodes.indexOf(node), 1);
  await node.close(0);
  return { stdout, files };
}

describe('C programs on headless nodes', () => {
  it('killed nodes, restarts from images asked for while the ranks wait: the same output and files, byte for byte', async () => {
    const expected = await calm();
    await bench.node(2);
    const b = await bench.node(2);
    const id = await submit(RING, 4, { args: ['50'] });
    await held(id);
    await checkpoint(id);
    b.kill();
    const c = await bench.node(2);
    await bench.recovered(id, 2);
    await held(id);
    // Without an image in between: from the same one, with a replay behind it.
    c.kill();
    await bench.node(2);
    await bench.recovered(id, 4);
    await bench.input(id, 'go');
    const { job, stdout, files } = await results(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(expected.stdout);
    expect(files).toEqual(expected.files);
    expect(job.tasks.map((t) => t.incarnation).sort()).toEqual([0, 0, 2, 2]);
  });

  it(
    'spawned ranks: parents and children killed in the middle of the spawn and after it, the server ' +
      'restarted: the same output; what cannot be spawned is MPI_ERR_SPAWN',
    async () => {
      await bench.node(3, 'a');
      const b = await bench.node(3, 'b');
      const id = await submit(SPAWNING, 2);
      // Each node has two of them.
      await bench.until(id, (j) => j.size === 4 && j.tasks.every((t) => t.node !== undefined));
      b.kill();
      const c = await bench.node(3, 'c');
      // Whoever was hit in the middle of what: all of them come to where the program is held.
      const lines = async (): Promise<string[]> =>
        Promise.all([0, 1, 2, 3].map(async (t) => (await bench.api(`jobs/${id}/tasks/${t}/stdout?from=0`)).text()));
      await expect.poll(async () => (await lines()).every((l) => l.includes('held'))).toBe(true);
      const { port } = new URL(bench.server.url);
      await bench.server.close();
      await bench.start(Number(port));
      await bench.until(
        id,
        (j) => j.endedAt !== undefined || (j.size === 4 && j.tasks.every((t) => t.state === 'running')),
      );
      c.kill();
      await bench.node(3, 'd');
      await bench.input(id);
      const { job, stdout } = await bench.ended(id);
      expect(job.error).toBeUndefined();
      expect(stdout).toEqual([
        'parent 0 of 2, 6 slots: MPI_ERR_SPAWN\nheld\nchildren say 1 6\n',
        'parent 1 of 2, 6 slots: MPI_ERR_SPAWN\nheld\nchildren say 1 6\n',
        'child 0 of 2 of 2 parents: x\nheld\nparents say 14\n',
        'child 1 of 2 of 2 parents: x\nheld\nparents say 14\n',
      ]);
      expect(job).toMatchObject({
        state: 'done',
        size: 4,
        spawned: 2,
        tasks: [{}, {}, { spawned: { by: 1, world: [2, 3] } }, {}],
      });
      // Each kill struck. (A rank that its node had not yet got leaves no fault, only another incarnation.)
      const again = job.tasks.reduce((sum, t) => sum + (t.incarnation ?? 0), 0);
      expect(again).toBeGreaterThan(1);
    },
  );

  it('a restart without an image replays from the start', async () => {
    const expected = await calm();
    const a = await bench.node(4);
    const id = await submit(RING, 4, { args: ['50'] });
    await held(id);
    a.kill();
    await bench.node(4);
    await bench.recovered(id, 4);
    await bench.input(id, 'go');
    const { job, stdout, files } = await results(id);
    expect(job.error).toBeUndefined();
    expect(job.tasks.map((t) => t.images)).toEqual([0, 0, 0, 0]);
    expect(stdout).toEqual(expected.stdout);
    expect(files).toEqual(expected.files);
  });

  it('a node that leaves takes last images of ranks that wait: the next incarnations begin there', async () => {
    const a = await bench.node(4);
    const id = await submit(RING, 4, { args: ['50'] });
    await held(id);
    expect((await bench.view(id)).tasks.map((t) => t.images)).toEqual([0, 0, 0, 0]);
    await a.close(120_000);
    const view = await bench.view(id);
    expect(view.tasks.map((t) => t.images)).toEqual([1, 1, 1, 1]);
    await bench.node(4);
    await bench.recovered(id, 4);
    await bench.input(id, 'go');
    const { job, stdout } = await results(id);
    expect(job.error).toBeUndefined();
    expect(job.faults.map((f) => f.cause)).toEqual(Array(4).fill('goodbye'));
    expect(stdout.map((s) => s.split('\n').length)).toEqual([8, 7, 7, 7]);
  });

  it('a node tells how much memory its ranks have', async () => {
    await bench.node(2);
    const id = await submit(
      `#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n
      static char *volatile kept;
      int main(int argc, char **argv) { int r; char line[8]; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &r);
        if (r == 1) { kept = malloc(24 << 20); memset(kept, 1, 24 << 20); }
        if (r == 0) fgets(line, sizeof line, stdin);
        MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }`,
      2,
    );
    const { tasks } = await bench.until(id, (j) => j.tasks.every((t) => t.activity?.state === 'waiting'));
    let memory = 0;
    await bench.until(id, () => {
      void bench
        .api(`nodes/${tasks[0]!.node!}`)
        .then(async (r) => (memory = ((await r.json()) as NodeDetail).memory ?? 0));
      return memory >= 24 << 20;
    });
    expect(memory % 65_536).toBe(0);
    expect(memory).toBeLessThan(64 << 20);
    await bench.input(id, 'go');
    expect((await results(id)).job.error).toBeUndefined();
  });

  it('an image whenever the one before it is stored, and kills: nothing is lost or doubled', async () => {
    const expected = await calm();
    await bench.node(2);
    const b = await bench.node(2);
    const id = await submit(RING, 4, { args: ['50'], options: { checkpointMs: 0 } });
    await bench.until(id, (j) => j.tasks.every((t) => t.images >= 1));
    b.kill();
    await bench.node(2);
    await bench.recovered(id, 2);
    await bench.input(id, 'go');
    const { job, stdout, files } = await results(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(expected.stdout);
    expect(files).toEqual(expected.files);
  });

  it('a trap, an abort, a deep recursion and an exit code are results, with the names of functions', async () => {
    await bench.node(2);
    const source = (
      body: string,
    ): string => `#include <mpi.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n
      static __attribute__((noinline)) int worker(int n, char *p) { ${body} }
      int main(int argc, char **argv) { MPI_Init(&argc, &argv); int r; MPI_Comm_rank(MPI_COMM_WORLD, &r);
        printf("at %d\\n", r); if (r == 1) r += worker(argc, argv[0]); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize();
        return 0; }`;
    const end = async (body: string): Promise<JobView> => {
      const { job, stdout } = await results(await submit(source(body), 2));
      expect(stdout[1]).toBe('at 1\n');
      expect(job.state).toBe('failed');
      expect(job.tasks.map((t) => t.incarnation)).toEqual([0, 0]);
      return job;
    };
    const trap = await end('volatile int z = n - 1; return 7 / z;');
    expect(trap.error).toMatchObject({ code: 'PROGRAM_TRAP' });
    expect(trap.error?.message).toContain('divided by zero');
    expect(JSON.stringify(trap.error)).toContain('at worker');
    expect((await end('abort(); return n;')).error?.message).toContain('abort()');
    expect(
      (
        await end(
          'char big[10000]; memset(big, n, sizeof big); return n == -1 ? 0 : worker(n + 1, big) + big[n % 100];',
        )
      ).error?.message,
    ).toContain('the stack has run out');
    const aborted = await end('return MPI_Abort(MPI_COMM_WORLD, 5);');
    expect(aborted.error).toMatchObject({ code: 'ABORTED' });
    expect(aborted.exitCode).toBe(5);
    expect((await end('exit(7);')).exitCode).toBe(7);
  });
});

describe.skipIf(!executable)('C programs in tabs', () => {
  it(
    'an image written in Chromium when its tab is hidden is restored in Node, and the other way round; a tab ' +
      'that is frozen writes one, too',
    async () => {
      const expected = await calm();
      browser ??= await launch();
      const tab = await openTab(browser, bench.server.url, 'tab', 4);
      const id = await submit(RING, 4, { args: ['50'] });
      await held(id);
      const first = await checkpoint(id, () =>
        tab.evaluate(() => {
          Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
          document.dispatchEvent(new Event('visibilitychange'));
        }),
      );
      expect(first.tasks.map((t) => t.images)).toEqual([1, 1, 1, 1]);
      await tab.context().close();
      const node = await bench.node(4);
      await bench.recovered(id, 4);
      await held(id);
      const second = await checkpoint(id);
      expect(second.tasks.map((t) => t.images)).toEqual([2, 2, 2, 2]);
      node.kill();
      const another = await openTab(browser, bench.server.url, 'another tab', 4);
      await bench.recovered(id, 8);
      await held(id);
      const third = await checkpoint(id, () => another.evaluate(() => document.dispatchEvent(new Event('freeze'))));
      expect(third.tasks.map((t) => t.images)).toEqual([3, 3, 3, 3]);
      await bench.input(id, 'go');
      const { job, stdout, files } = await results(id);
      expect(job.error).toBeUndefined();
      expect(job.tasks.map((t) => t.incarnation)).toEqual([2, 2, 2, 2]);
      expect(stdout).toEqual(expected.stdout);
      expect(files).toEqual(expected.files);
    },
  );
});
