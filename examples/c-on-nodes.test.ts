/**
 * C programs as users write them, on a real server with headless nodes, one of which dies: standard output must be that
 * of a native run, byte for byte, and only the ranks of the dead node may have begun anew.
 *
 * Some of the programs; all of them, on tabs as well: `npm run faults -- --examples`.
 *
 * The programs know nothing of this. A second source file wraps MPI_Finalize, as a profiling library does, and waits
 * there for a line from the test: so every rank is certainly still there when its node dies, however fast or slow the
 * machine.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import { createServer, type MayflyServer } from '@mayfly/server';
import { until as waitUntil } from '@mayfly/testing';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import type { JobSubmission, JobView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectedOutput, readExample, rows } from './c-sources.ts';

const TOKEN = 'token-of-the-tests';
/** A closed socket means loss soon; silence, which a busy machine produces by itself, does not. */
const PATIENCE = { graceMs: 300, silentMs: 120_000, restartGraceMs: 120_000 };
const HELD = `#include <mpi.h>
#include <stdio.h>
int MPI_Finalize(void) {
  int rank;
  char line[8];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && !fgets(line, sizeof line, stdin)) return MPI_ERR_OTHER;
  PMPI_Barrier(MPI_COMM_WORLD);
  return PMPI_Finalize();
}
`;
/**
 * On how many ranks; the node dies when they have received a drawn number of messages together, at most `most`, or wait
 * at the end.
 */
const RUNS: Record<string, { ranks: number; most: number }> = {
  'nas-is': { ranks: 4, most: 150 },
  'nas-cg': { ranks: 4, most: 5000 },
  'c-heat': { ranks: 4, most: 1600 },
  'c-pcg': { ranks: 4, most: 1500 },
};

const dataDir = mkdtempSync(join(tmpdir(), 'mayfly-c-examples-'));
let server: MayflyServer;
let nodes: { name: string; node: HeadlessNode }[] = [];
let joined = 0;
beforeAll(async () => {
  server = await createServer({
    dataDir,
    port: 0,
    token: TOKEN,
    ...sharedCompiler(),
    dispatcher: PATIENCE,
    log: process.env['MAYFLY_LOG'] ? 'debug' : 'silent',
  });
});
afterEach(async () => {
  await Promise.all(nodes.map(({ node }) => node.close(0)));
  nodes = [];
});
afterAll(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function join2(): Promise<void> {
  const name = `node ${++joined}`;
  nodes.push({ name, node: await startHeadlessNode({ server: server.url, slots: 2, name }) });
}
async function api(path: string, init: { method?: string; body?: string; type?: string } = {}): Promise<Response> {
  const { type = 'application/json', ...rest } = init;
  const answer = await fetch(`${server.url}/api/${path}`, {
    ...rest,
    headers: { authorization: `Bearer ${TOKEN}`, ...(init.body === undefined ? {} : { 'content-type': type }) },
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}
async function until(id: string, what: string, holds: (job: JobView) => boolean): Promise<JobView> {
  let job!: JobView;
  await waitUntil(
    () => `${what}: ${JSON.stringify(job)}`,
    async () => {
      job = (await (await api(`jobs/${id}`)).json()) as JobView;
      if (holds(job)) return true;
      if (job.endedAt !== undefined) throw new Error(`not ${what}: the job is ${job.state}: ${JSON.stringify(job)}`);
      return false;
    },
    { progress: () => JSON.stringify(job.tasks.map((t) => [t.state, t.incarnation, t.messagesIn, t.messagesOut])) },
  );
  return job;
}

describe.each(Object.entries(RUNS))('%s', (name, { ranks, most }) => {
  it('answers as natively when a node dies', async () => {
    const row = rows.find((r) => r.name === name && r.expected === undefined)!;
    const { language, flags, sources, files } = readExample(name);
    for (let i = 0; i < ranks / 2; i++) await join2();
    const submission: JobSubmission = {
      name,
      program: { language, flags, sources: { ...sources, 'held/finalize.c': HELD } },
      size: ranks,
      args: row.args,
      files: Object.fromEntries(
        Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]),
      ),
      options: { checkpointMs: 100, timeLimitMs: 600_000, interactive: true },
    };
    const { id } = (await (await api('jobs', { method: 'POST', body: JSON.stringify(submission) })).json()) as {
      id: string;
    };

    const arrivals = 1 + Math.floor(Math.random() * most);
    const victim = nodes[Math.floor(Math.random() * nodes.length)]!;
    const there = (j: JobView): boolean =>
      j.tasks[0]!.activity?.call === 'stdin' ||
      j.tasks.reduce((sum, t) => sum + (t.activity?.arrivals ?? 0), 0) >= arrivals;
    const killedAt = await until(
      id,
      `at ${arrivals} arrivals`,
      (j) => j.tasks.every((t) => t.state === 'running') && there(j),
    );
    const lost = killedAt.tasks.filter((t) => t.nodeName === victim.name).map((t) => t.task);
    process.stderr.write(`${name}: ${victim.name} with ranks ${lost.join(' and ')} dies after ${arrivals} arrivals\n`);
    victim.node.kill();
    expect(lost).toHaveLength(2);
    nodes.splice(nodes.indexOf(victim), 1);
    await join2();
    await until(
      id,
      'recovered',
      (j) => j.faults.length === lost.length && j.faults.every((f) => f.recoveredAfterMs !== undefined),
    );
    await api(`jobs/${id}/stdin`, { method: 'POST', body: '\n', type: 'application/octet-stream' });

    const job = await until(id, 'at its end', (j) => j.endedAt !== undefined);
    expect(job.error ?? job.state).toBe('done');
    expect(job.exitCode).toBe(0);
    expect(job.tasks.filter((t) => t.incarnation > 0).map((t) => t.task)).toEqual(lost);
    const stdout = await Promise.all(
      job.tasks.map(async (t) => (await api(`jobs/${id}/tasks/${t.task}/stdout?from=0`)).text()),
    );
    expect(stdout).toEqual([expectedOutput(row, ranks), ...Array.from({ length: ranks - 1 }, () => '')]);
  });
});

it(
  'a file is seen as it is flushed; mayfly checkpoint: images on demand, of ranks that run and of ranks that ' +
    'have not begun',
  async () => {
    // It also writes a file and flushes it, which is to be seen while the program runs.
    const main = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE *f = rank == 0 ? fopen("tiles:0.txt", "w") : NULL;
  if (f) { fputs("first\\n", f); fflush(f); }
  MPI_Barrier(MPI_COMM_WORLD);
  if (f) fputs("second\\n", f);
  MPI_Finalize();
  return 0;
}
`;
    const submission: JobSubmission = {
      name: 'asked',
      program: { language: 'c', sources: { 'main.c': main, 'held/finalize.c': HELD } },
      size: 2,
      options: { checkpointMs: 86_400_000, interactive: true },
    };
    const { id } = (await (await api('jobs', { method: 'POST', body: JSON.stringify(submission) })).json()) as {
      id: string;
    };
    const mayfly = async (...args: string[]): Promise<string> => {
      const env = { ...process.env, MAYFLY_SERVER: server.url, MAYFLY_TOKEN: TOKEN };
      return (
        await promisify(execFile)(
          process.execPath,
          [join(import.meta.dirname, '../apps/cli/dist/mayfly.js'), ...args],
          {
            env,
          },
        )
      ).stdout;
    };
    const file = async (): Promise<string> => (await api(`jobs/${id}/files/tiles%3A0.txt`)).text();
    // No node is there: the ranks owe an image as soon as they run.
    expect(await mayfly('checkpoint', id, '--no-wait')).toBe('asked ranks 0, 1\n');
    await join2();
    await waitUntil(
      'both ranks have an image',
      async () =>
        new Set(((await (await api(`jobs/${id}/images`)).json()) as { task: number }[]).map((i) => i.task)).size === 2,
    );
    expect(await waitUntil('its result file', () => file().catch(() => false))).toBe('first\n');
    expect((await mayfly('checkpoint', id)).split('\n').sort().join('\n')).toMatch(
      /^\nrank 0: checkpoint of \d+ bytes stored\nrank 1: checkpoint of \d+ bytes stored$/,
    );
    await api(`jobs/${id}/stdin`, { method: 'POST', body: '\n', type: 'application/octet-stream' });
    expect((await until(id, 'at its end', (j) => j.endedAt !== undefined)).state).toBe('done');
    expect(await file()).toBe('first\nsecond\n');
  },
);
