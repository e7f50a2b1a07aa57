/** Ranks of one node exchange messages in its memory (docs/teams.md): real programs on headless nodes and in a tab. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@mayfly/testing';
import type { Browser } from '@playwright/test';
import type { JobOptions } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { executable, launch, openTab, writePage } from './chromium.ts';
import { Bench } from './harness.ts';

const webRoot = mkdtempSync(join(tmpdir(), 'mayfly-teams-'));
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

/** Messages from 0 bytes to 4 MB between all pairs, in ways that would stop two ranks if a full ring did. */
const SIZES = `
import { COMM_WORLD as comm, ANY_SOURCE, ANY_TAG, SUM } from 'mayfly';
const { rank, size } = comm;
const fill = (n: number, from: number, tag: number) => {
  const a = new Uint8Array(n);
  for (let i = 0; i < n; i++) a[i] = i * 7 + from * 13 + tag;
  return a;
};
const same = (a: Uint8Array, b: Uint8Array) => {
  let equal = a.length === b.length;
  for (let i = 0; i < a.length; i++) equal &&= a[i] === b[i];
  return equal;
};
const sizes = [0, 1, 8, 4096, 4097, 32704, 32705, 70_000, 300_000, 4 << 20];
// Everybody sends to everybody, itself included, before anybody receives: both directions of each pair are full.
for (const [tag, n] of sizes.entries()) {
  for (let to = 0; to < size; to++) comm.send(fill(n, rank, tag), to, tag);
  for (let k = 0; k < size; k++) {
    const seen = comm.probe(ANY_SOURCE, tag);
    if (seen.count(Uint8Array) !== n) throw new Error('probe saw ' + seen.count(Uint8Array) + ', not ' + n);
    const b = new Uint8Array(n);
    const s = comm.recv(b, seen.source, tag);
    if (!same(b, fill(n, s.source, tag))) throw new Error('damaged: ' + n + ' from ' + s.source);
  }
}
// Tags in the opposite order: what comes first is not what is wanted first.
if (rank === 0) for (let tag = 0; tag < 8; tag++) comm.send(fill(100_000 + tag, 0, tag), 1, tag);
if (rank === 1)
  for (let tag = 7; tag >= 0; tag--) {
    const b = new Uint8Array(100_000 + tag);
    comm.recv(b, 0, tag);
    if (!same(b, fill(b.length, 0, tag))) throw new Error('damaged: tag ' + tag);
  }
// Posted receives, and an unsuccessful probe.
const right = (rank + 1) % size, left = (rank + size - 1) % size;
const big = new Uint8Array(1 << 20);
const request = comm.irecv(big, left, 50);
if (comm.iprobe(left, 51)) throw new Error('nobody sent that');
comm.send(fill(1 << 20, rank, 50), right, 50);
request.wait();
if (!same(big, fill(1 << 20, left, 50))) throw new Error('damaged: posted');
// Messages that nobody receives before many others, from any source.
const word = new Float64Array(1);
let sum = 0;
if (rank === 0)
  for (let k = 0; k < 2000 * (size - 1); k++) {
    comm.recv(word, ANY_SOURCE, ANY_TAG);
    sum += word[0]!;
  }
else for (let k = 0; k < 2000; k++) comm.send(Float64Array.of(rank), 0, k % 5);
comm.barrier();
console.log('right', comm.allreduce(rank + sum, SUM));
`;
const right = (n: number): string => `right ${(n * (n - 1)) / 2 + 2000 * ((n * (n - 1)) / 2)}\n`;

const NONE: JobOptions = { protocol: 'none' };

/** Messages that passed through the server. */
const through = async (id: string): Promise<number> =>
  (await bench.view(id)).tasks.reduce((n, t) => n + t.messagesIn - (t.localIn ?? 0), 0);

describe('a team on a headless node', () => {
  it('carries messages of all sizes, in TypeScript, without the server', async () => {
    await bench.node(4);
    const id = await bench.submit(SIZES, 4, { options: NONE });
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(Array(4).fill(right(4)));
    expect(await through(id)).toBe(0);
    const alone = await bench.submit(SIZES, 4, { options: { ...NONE, team: 1 } });
    expect((await bench.ended(alone)).stdout).toEqual(stdout);
    expect(await through(alone)).toBeGreaterThan(6000);
  });

  it('mixes with messages through the server: teams fill the slots of two nodes, or take them in turn', async () => {
    await bench.node(2, 'a');
    await bench.node(2, 'b');
    for (const [mapBy, where] of [
      ['slot', [0, 0, 2, 2]],
      ['node', [0, 1, 0, 1]],
    ] as const) {
      const id = await bench.submit(SIZES, 4, { options: { ...NONE, mapBy } });
      const { job, stdout } = await bench.ended(id);
      expect(job.error).toBeUndefined();
      expect(stdout).toEqual(Array(4).fill(right(4)));
      const names = await bench.submit(
        `import { processorName } from 'mayfly';
         console.log(processorName());`,
        4,
        { options: { ...NONE, mapBy } },
      );
      const places = (await bench.ended(names)).stdout;
      expect(places.map((name) => places.indexOf(name))).toEqual(where);
    }
  });

  it('combines at one rank before a message crosses to another node', async () => {
    await bench.node(2, 'a');
    await bench.node(2, 'b');
    const sums = `
import { COMM_WORLD as comm, SUM } from 'mayfly';
let sum = 0;
for (let k = 0; k < 50; k++) sum += comm.allreduce(comm.rank + k, SUM);
console.log(sum);`;
    const [two, one] = await Promise.all(
      [NONE, { ...NONE, mapBy: 'node' as const }].map(async (options) => {
        const id = await bench.submit(sums, 4, { options });
        expect((await bench.ended(id)).stdout).toEqual(Array(4).fill('5200\n'));
        return through(id);
      }),
    );
    // Two messages for each. Ranks in turn: sums keep their order, in one level.
    expect([two, one]).toEqual([100, 200]);
  });

  it('C: point to point, probes and collectives', async () => {
    await bench.node(3);
    const submitted = await bench.api('jobs', {
      method: 'POST',
      body: JSON.stringify({
        program: { language: 'c', sources: { 'main.c': C } },
        size: 3,
        options: NONE,
      }),
    });
    const { id } = (await submitted.json()) as { id: string };
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual([0, 1, 2].map((r) => `rank ${r} right\n`));
    expect(await through(id)).toBe(0);
  });
});
const C = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned char *fill(int n, int from, int tag) {
  unsigned char *b = malloc(n + 1);
  for (int i = 0; i < n; i++) b[i] = i * 7 + from * 13 + tag;
  return b;
}
static void check(const unsigned char *b, int n, int from, int tag) {
  for (int i = 0; i < n; i++) if (b[i] != (unsigned char)(i * 7 + from * 13 + tag)) { printf("damaged %d of %d\\n", i, n); MPI_Abort(MPI_COMM_WORLD, 1); }
}
int main(int argc, char **argv) {
  static const int sizes[] = {0, 1, 8, 4096, 32704, 32705, 300000, 4 << 20};
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int k = 0; k < 8; k++) {
    int n = sizes[k];
    unsigned char *mine = fill(n, rank, k), *b = malloc(n + 1);
    for (int to = 0; to < size; to++) MPI_Send(mine, n, MPI_BYTE, to, k, MPI_COMM_WORLD);
    for (int j = 0; j < size; j++) {
      MPI_Status s; int count, flag = 0;
      if (j % 2) while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &flag, &s);
      else MPI_Probe(MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &s);
      MPI_Get_count(&s, MPI_BYTE, &count);
      if (count != n) { printf("count %d, not %d\\n", count, n); MPI_Abort(MPI_COMM_WORLD, 1); }
      MPI_Recv(b, n, MPI_BYTE, s.MPI_SOURCE, k, MPI_COMM_WORLD, &s);
      check(b, n, s.MPI_SOURCE, k);
    }
    MPI_Request r[8];
    unsigned char *into[4];
    for (int from = 0; from < size; from++) MPI_Irecv(into[from] = malloc(n + 1), n, MPI_BYTE, from, 90, MPI_COMM_WORLD, &r[from]);
    for (int to = 0; to < size; to++) MPI_Issend(mine, n, MPI_BYTE, to, 90, MPI_COMM_WORLD, &r[size + to]);
    MPI_Waitall(2 * size, r, MPI_STATUSES_IGNORE);
    for (int from = 0; from < size; from++) { check(into[from], n, from, k); free(into[from]); }
    free(mine);
    free(b);
  }
  static double a[50000], sum[50000];
  for (int i = 0; i < 50000; i++) a[i] = rank + i;
  MPI_Allreduce(a, sum, 50000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 50000; i++) if (sum[i] != 3 + 3.0 * i) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d right\\n", rank);
  MPI_Finalize();
  return 0;
}
`;

describe('counts', () => {
  it('local messages are in the counters and in the matrix, and known as local', async () => {
    await bench.node(2, 'a');
    await bench.node(1, 'b');
    const id = await bench.submit(
      `import { COMM_WORLD as comm } from 'mayfly';
       const b = new Uint8Array(100_000);
       if (comm.rank === 0) {
         for (let k = 0; k < 10; k++) comm.send(b.subarray(0, 10), 1);
         comm.send(b, 1);
         for (let k = 0; k < 3; k++) comm.send(b.subarray(0, 7), 2);
         comm.send(b.subarray(0, 5), 0);
         comm.recv(b, 0);
       } else for (let k = 0; k < (comm.rank === 1 ? 11 : 3); k++) comm.recv(b, 0);`,
      3,
      { options: NONE },
    );
    const { job } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(job.tasks.map((t) => t.team)).toEqual([0, 0, undefined]);
    expect(job.tasks.map((t) => [t.localOut, t.localIn])).toEqual([
      [12, 1],
      [0, 11],
      [undefined, undefined],
    ]);
    const { cells } = (await (await bench.api(`jobs/${id}/matrix`)).json()) as { cells: number[][] };
    expect(cells.sort()).toEqual([
      [0, 0, 1, 5],
      [0, 1, 11, 100_100],
      [0, 2, 3, 21],
    ]);
  });
});

describe('losses and limits', () => {
  it('a lost rank ends the job, and with it its teammates', async () => {
    const node = await bench.node(3);
    const id = await bench.submit(
      `import { COMM_WORLD as comm, stdin } from 'mayfly';
       const b = new Float64Array(1);
       comm.barrier();
       console.log('here');
       if (comm.rank === 2) stdin.readLine();
       // 0 waits for 1; 1 sends to 2 until its ring is full; 2 waits for a line that does not come.
       else if (comm.rank === 0) comm.recv(b, 1);
       else for (;;) comm.send(new Float64Array(10_000), 2);`,
      3,
      { options: { ...NONE, interactive: true } },
    );
    await bench.until(id, (j) => j.tasks.every((t) => t.activity !== undefined));
    await bench.api(`jobs/${id}/tasks/0/kill`, { method: 'POST' });
    const { job } = await bench.ended(id);
    expect(job).toMatchObject({ state: 'failed', error: { code: 'LOST_NODES' } });
    await until('teammates have gone', () => node.snapshot().ranks.length === 0);
  });

  it('a deadlock within a team is reported', async () => {
    await bench.node(2);
    const id = await bench.submit(
      `import { COMM_WORLD as comm } from 'mayfly';
       comm.barrier();
       comm.recv(new Float64Array(1), 1 - comm.rank, 5);`,
      2,
      { options: NONE },
    );
    const { job } = await bench.ended(id);
    expect(job.error).toMatchObject({ code: 'DEADLOCK' });
    expect(job.error!.message).toContain('Wait cycle: 0 → 1 → 0');
  });

  it('T11: spawned tasks form a team of their own', async () => {
    await bench.node(4);
    const id = await bench.submit(
      `import { COMM_WORLD as comm, getParent, SUM } from 'mayfly';
       const parent = getParent();
       const b = new Float64Array(1);
       if (parent) {
         parent.send(Float64Array.of(comm.allreduce(comm.rank + 1, SUM)), comm.rank);
         parent.disconnect();
       } else {
         const children = comm.spawn([], 2);
         children.recv(b, comm.rank);
         children.disconnect();
         console.log('heard', comm.allreduce(b[0]!, SUM));
       }`,
      2,
      { options: NONE },
    );
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout.slice(0, 2)).toEqual(['heard 6\n', 'heard 6\n']);
  });

  it('a protocol that needs every message on the server takes no teams', async () => {
    const options = { protocol: 'app', team: 2 } as const;
    await expect(bench.submit('', 2, { options })).rejects.toThrow(/does not accept the option .*team/);
    await bench.node(1);
    expect((await bench.ended(await bench.submit('', 1, { options: { team: 1 } }))).job.error).toBeUndefined();
  });
});

describe.skipIf(!executable)('a team in a tab', () => {
  it('carries messages of all sizes', async () => {
    browser = await launch();
    await openTab(browser, bench.server.url, 'tab', 3);
    const id = await bench.submit(SIZES, 3, { options: NONE });
    const { job, stdout } = await bench.ended(id);
    expect(job.error).toBeUndefined();
    expect(stdout).toEqual(Array(3).fill(right(3)));
    expect(await through(id)).toBe(0);
  });
});
