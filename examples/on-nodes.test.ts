/**
 * Every example on a real server with headless nodes: undisturbed, and with nodes that die while it runs. Both must give the same bytes
 * on standard output of every rank and in every result file.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import { createServer, type MayflyServer } from '@mayfly/server';
import { readProgram } from '@mayfly/toolchain';
import { buildForTests } from '@mayfly/toolchain/build-for-tests';
import type { JobSubmission, JobView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const TOKEN = 'token-of-the-tests';
const dataDir = mkdtempSync(join(tmpdir(), 'mayfly-examples-'));
let server: MayflyServer;
let nodes: HeadlessNode[] = [];

beforeAll(async () => {
  buildForTests();
  server = await createServer({ dataDir, port: 0, token: TOKEN, log: process.env['MAYFLY_LOG'] ? 'debug' : 'silent' });
});
afterEach(async () => {
  await Promise.all(nodes.map((n) => n.close()));
  nodes = [];
});
afterAll(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const join2 = async (): Promise<HeadlessNode> => {
  const node = await startHeadlessNode({ server: server.url, slots: 2, name: `node ${nodes.length + 1}` });
  nodes.push(node);
  return node;
};
const api = async (path: string, init: { method?: string; body?: string } = {}): Promise<Response> => {
  const answer = await fetch(`${server.url}/api/${path}`, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...(init.body === undefined ? {} : { 'content-type': 'application/json' }) } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
};
const sleep = (ms: number): Promise<void> => new Promise((r) => setTimeout(r, ms));

async function submit(name: string, args: string[]): Promise<string> {
  const folder = join(here, name);
  const about = JSON.parse(readFileSync(join(folder, 'example.json'), 'utf8')) as { files: string[] };
  const submission: JobSubmission = {
    name,
    program: { language: 'typescript', ...(await readProgram(join(folder, 'main.ts'))) },
    size: 4,
    args,
    files: Object.fromEntries(about.files.map((f) => [f, readFileSync(join(folder, f)).toString('base64')])),
    options: { checkpointMs: 100, graceMs: 500, timeLimitMs: 120_000 },
  };
  return ((await (await api('jobs', { method: 'POST', body: JSON.stringify(submission) })).json()) as { id: string }).id;
}

interface Outcome {
  job: JobView;
  stdout: string[];
  files: Record<string, Buffer>;
}
async function outcome(id: string, limitMs = 60_000): Promise<Outcome> {
  const until = performance.now() + limitMs;
  for (;;) {
    const job = (await (await api(`jobs/${id}`)).json()) as JobView;
    if (job.state === 'done' || job.state === 'failed' || job.state === 'cancelled') {
      const stdout = await Promise.all(job.tasks.map(async (t) => (await api(`jobs/${id}/tasks/${t.task}/stdout?from=0`)).text()));
      const files = await Promise.all(job.outputs.map(async ({ path }) => [path, Buffer.from(await (await api(`jobs/${id}/files/${path}`)).arrayBuffer())] as const));
      return { job, stdout, files: Object.fromEntries(files) };
    }
    if (performance.now() > until) throw new Error(`job ${job.name} is ${job.state} after ${limitMs} ms: ${job.reason ?? ''} ${JSON.stringify(job.tasks)}`);
    await sleep(50);
  }
}

/** How far a job is: the messages that its ranks have received. */
const messages = (job: JobView): number => job.tasks.reduce((sum, t) => sum + t.messagesIn, 0);
async function progress(id: string, wanted: number): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    const job = (await (await api(`jobs/${id}`)).json()) as JobView;
    if (job.endedAt !== undefined) throw new Error(`the job has ended before anything could happen to it, at ${messages(job)} of ${wanted} messages`);
    if (messages(job) >= wanted) return;
    await sleep(20);
  }
  throw new Error('the job makes no progress');
}

/** Arguments that make a run of some seconds; and what it leaves behind. */
const RUNS: Record<string, { args: string[]; files: string[] }> = {
  ring: { args: ['--laps', '200'], files: [] },
  pi: { args: ['--intervals', '5e8', '--rounds', '50'], files: [] },
  heat: { args: ['--points', '126', '--steps', '300', '--pictures', '3'], files: ['heat.png'] },
  mandelbrot: { args: ['--width', '384', '--iterations', '2000', '--repeat', '4'], files: ['mandelbrot.png'] },
  'sample-sort': { args: ['--keys', '50000', '--rounds', '20'], files: [] },
  cg: { args: ['--repeat', '1'], files: ['x1.bin'] },
};

describe.each(Object.entries(RUNS))('%s', (name, { args, files }) => {
  it('gives its answer, and the same one when nodes die', async () => {
    await join2();
    await join2();
    const started = performance.now();
    const undisturbed = await outcome(await submit(name, args));
    const took = performance.now() - started;
    expect(undisturbed.job.error ?? undisturbed.job.state).toBe('done');
    expect(undisturbed.job.exitCode).toBe(0);
    expect(undisturbed.stdout[0]).toMatch(/^PASS: /m);
    expect(Object.keys(undisturbed.files).sort()).toEqual(files);

    const id = await submit(name, args);
    // One is killed and one leaves, at moments that lie inside the run.
    await progress(id, 0.3 * messages(undisturbed.job));
    nodes[0]!.kill();
    nodes[0] = await startHeadlessNode({ server: server.url, slots: 2, name: 'a new one' });
    await progress(id, 0.6 * messages(undisturbed.job));
    const [leaving] = nodes.splice(1, 1);
    await leaving!.close();
    await join2();
    const disturbed = await outcome(id);
    process.stderr.write(`${name}: ${(took / 1000).toFixed(1)} s undisturbed; ${disturbed.job.faults.map((f) => `${f.cause} rank ${f.task}, recovered after ${f.recoveredAfterMs ?? '?'} ms`).join('; ')}\n`);
    expect(disturbed.job.error ?? disturbed.job.state).toBe('done');
    expect(disturbed.stdout).toEqual(undisturbed.stdout);
    for (const f of files) expect(disturbed.files[f]!.equals(undisturbed.files[f]!)).toBe(true);
    expect(disturbed.job.faults.length).toBeGreaterThan(0);
  }, 150_000);
});

it('a check that fails ends the job with exit code 1', async () => {
  await join2();
  await join2();
  const { job, stdout } = await outcome(await submit('cg', ['--limit', '5']), 30_000);
  expect(stdout[0]).toMatch(/^FAIL: 1 of 1 systems not solved$/m);
  expect(job.exitCode).toBe(1);
}, 60_000);
