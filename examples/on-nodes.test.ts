/**
 * Examples on a real server with headless nodes: undisturbed, and with nodes that die while it runs. Both must give the
 * same bytes on standard output of every rank and in every result file. All examples, more kinds of faults and tabs:
 * the campaign of playwright/.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import { createServer, type MayflyServer } from '@mayfly/server';
import { until as waitUntil } from '@mayfly/testing';
import { sharedCompiler } from '@mayfly/toolchain/shared-compiler-for-tests';
import { readProgram } from '@mayfly/toolchain';
import type { JobSubmission, JobView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const here = fileURLToPath(new URL('.', import.meta.url));
const TOKEN = 'token-of-the-tests';
/** A closed socket means loss soon; silence, which a busy machine produces by itself, does not. */
const PATIENCE = { graceMs: 300, silentMs: 120_000, restartGraceMs: 120_000 };
/** The example, and behind it a wait for a line from the test: every rank is certainly there when its node dies. */
const HELD = `import './main.ts';
import { COMM_WORLD as comm, stdin } from 'mayfly';
if (comm.rank === 0) stdin.readLine();
comm.barrier();
`;
const dataDir = mkdtempSync(join(tmpdir(), 'mayfly-examples-'));
let server: MayflyServer;
let nodes: HeadlessNode[] = [];

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
  await Promise.all(nodes.map((n) => n.close()));
  nodes = [];
});
afterAll(async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const join2 = async (): Promise<HeadlessNode> => {
  const node = await startHeadlessNode({
    server: server.url,
    allowTypeScript: true,
    slots: 2,
    name: `node ${nodes.length + 1}`,
  });
  nodes.push(node);
  return node;
};
const api = async (path: string, init: { method?: string; body?: string } = {}): Promise<Response> => {
  const answer = await fetch(`${server.url}/api/${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
};

async function submit(name: string, args: string[], held = true): Promise<string> {
  const folder = join(here, name);
  const about = JSON.parse(readFileSync(join(folder, 'example.json'), 'utf8')) as { files: string[] };
  const { sources } = await readProgram(join(folder, 'main.ts'));
  const submission: JobSubmission = {
    name,
    program: { language: 'typescript', entry: held ? 'held.ts' : 'main.ts', sources: { ...sources, 'held.ts': HELD } },
    size: 4,
    args,
    files: Object.fromEntries(about.files.map((f) => [f, readFileSync(join(folder, f)).toString('base64')])),
    options: { checkpointMs: 100, timeLimitMs: 600_000, interactive: true },
  };
  return ((await (await api('jobs', { method: 'POST', body: JSON.stringify(submission) })).json()) as { id: string })
    .id;
}

interface Outcome {
  job: JobView;
  stdout: string[];
  files: Record<string, Buffer>;
}
async function outcome(id: string): Promise<Outcome> {
  const job = await until(id, 'over', ({ state }) => ['done', 'failed', 'cancelled'].includes(state));
  const stdout = await Promise.all(
    job.tasks.map(async (t) => (await api(`jobs/${id}/tasks/${t.task}/stdout?from=0`)).text()),
  );
  const files = await Promise.all(
    job.outputs.map(
      async ({ path }) => [path, Buffer.from(await (await api(`jobs/${id}/files/${path}`)).arrayBuffer())] as const,
    ),
  );
  return { job, stdout, files: Object.fromEntries(files) };
}

/** How far a job is: the messages that its ranks have received. */
const messages = (job: JobView): number => job.tasks.reduce((sum, t) => sum + t.messagesIn, 0);
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
    { progress: () => messages(job) },
  );
  return job;
}
const goOn = async (id: string): Promise<void> => {
  const answer = await fetch(`${server.url}/api/jobs/${id}/stdin`, {
    method: 'POST',
    body: '\n',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
  });
  if (!answer.ok) throw new Error(`stdin: ${answer.status} ${await answer.text()}`);
};

/**
 * Arguments that make a run of some seconds; and what it leaves behind. The others' turn:
 * playwright/tests/faults.spec.ts.
 */
const RUNS: Record<string, { args: string[]; files: string[] }> = {
  'sample-sort': { args: ['--keys', '50000', '--rounds', '20'], files: [] },
};

describe.each(Object.entries(RUNS))('%s', (name, { args, files }) => {
  it('gives its answer, and the same one when nodes die', async () => {
    await join2();
    await join2();
    const started = performance.now();
    const calm = await submit(name, args);
    await goOn(calm);
    const undisturbed = await outcome(calm);
    const took = performance.now() - started;
    expect(undisturbed.job.error ?? undisturbed.job.state).toBe('done');
    expect(undisturbed.job.exitCode).toBe(0);
    expect(undisturbed.stdout[0]).toMatch(/^PASS: /m);
    expect(Object.keys(undisturbed.files).sort()).toEqual(files);

    const id = await submit(name, args);
    // One is killed and one leaves, at moments that lie inside the run.
    await until(id, 'at a third', (j) => messages(j) >= 0.3 * messages(undisturbed.job));
    nodes[0]!.kill();
    nodes[0] = await startHeadlessNode({ server: server.url, allowTypeScript: true, slots: 2, name: 'a new one' });
    await until(
      id,
      'recovered',
      (j) => j.faults.length === 2 && j.faults.every((f) => f.recoveredAfterMs !== undefined),
    );
    await until(id, 'at two thirds', (j) => messages(j) >= 0.6 * messages(undisturbed.job));
    const [leaving] = nodes.splice(1, 1);
    await leaving!.close();
    await join2();
    await until(id, 'lost again', (j) => j.faults.length === 4);
    await goOn(id);
    const disturbed = await outcome(id);
    process.stderr.write(
      `${name}: ${(took / 1000).toFixed(1)} s undisturbed; ` +
        `${disturbed.job.faults.map((f) => `${f.cause} rank ${f.task}, recovered after ${f.recoveredAfterMs ?? '?'} ms`).join('; ')}\n`,
    );
    expect(disturbed.job.error ?? disturbed.job.state).toBe('done');
    expect(disturbed.stdout).toEqual(undisturbed.stdout);
    for (const f of files) expect(disturbed.files[f]!.equals(undisturbed.files[f]!)).toBe(true);
    // The ranks of a node are a team (docs/teams.md).
    expect(disturbed.job.faults.map((f) => f.cause)).toEqual(['disconnected', 'team', 'goodbye', 'team']);
  });
});

it('a check that fails ends the job with exit code 1', async () => {
  await join2();
  await join2();
  const { job, stdout } = await outcome(await submit('cg', ['--limit', '5'], false));
  expect(stdout[0]).toMatch(/^FAIL: 1 of 1 systems not solved$/m);
  expect(job.exitCode).toBe(1);
});
