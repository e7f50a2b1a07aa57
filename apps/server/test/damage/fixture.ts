/**
 * A data directory with everything that one can have, made by a real server that is then killed: a job that has ended,
 * with output, result files, input and standard input; one in the middle, with logs and images; one that waits; tokens,
 * a room, histories, a certificate.
 */
import { startHeadlessNode } from '@mayfly/node/headless';
import type { JobView } from '@mayfly/wire';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord } from '@mayfly/storage';
import { program, TOKEN, until } from '../harness.ts';
import { answers, HOLDS, PROGRAM } from '../recorded/program.ts';
import { startProcess } from '../server-process.ts';

const ENDED = `
import { COMM_WORLD as comm, files, stdin } from 'mayfly';
const text = files.read('data/in.txt');
console.log('rank', comm.rank, 'of', comm.size, text.length);
console.error('an error line of rank', comm.rank);
files.write('out/result-' + comm.rank + '.txt', new Uint8Array(3000).fill(65 + comm.rank));
if (comm.rank === 0) console.log('submitted', stdin.readLine(), 'typed', stdin.readLine());
comm.barrier();
`;

export interface Fixture {
  ended: string;
  middle: string;
  waiting: string;
}

export type Call = <T>(path: string, init?: { method?: string; body?: object | string }) => Promise<T>;
export const caller =
  (url: string): Call =>
  async <T>(path: string, { method, body }: { method?: string; body?: object | string } = {}): Promise<T> => {
    const r = await fetch(`${url}/api/${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined
          ? {}
          : { 'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await r.text();
    if (!r.ok) throw new Error(`${r.status} ${text.slice(0, 300)}`);
    return (r.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T;
  };

export const PATIENCE = { graceMs: 600_000, silentMs: 600_000, restartGraceMs: 600_000 };

export async function makeFixture(dataDir: string): Promise<Fixture> {
  // With a certificate first: Node's fetch would not trust it.
  await (await startProcess({ dataDir, tls: 'selfsigned' })).stop();
  const server = await startProcess({ dataDir, dispatcher: PATIENCE });
  const call = caller(server.url);
  const nodes = [];
  for (const name of ['a', 'b'])
    nodes.push(await startHeadlessNode({ server: server.url, slots: 1, name, allowTypeScript: true }));
  await call('tokens', { body: { name: 'anna', role: 'submitter' } });
  const { code } = await call<{ code: string }>('rooms', { body: { name: 'class 7' } });
  const { id: ended } = await call<{ id: string }>('jobs', {
    body: program(ENDED, 2, {
      name: 'ended',
      files: { 'data/in.txt': Buffer.from('input '.repeat(500)).toString('base64') },
      stdin: Buffer.from('a line\n').toString('base64'),
      options: { interactive: true },
    }),
  });
  // What a run cost is known of a job that a heartbeat has spoken of.
  await until('a heartbeat of the first', async () =>
    (await call<JobView>(`jobs/${ended}`)).tasks.every((t) => t.activity?.state === 'waiting'),
  );
  await call(`jobs/${ended}/stdin`, { body: 'another\n' });
  await until('the end of the first', async () => (await call<JobView>(`jobs/${ended}`)).state === 'done');
  const { id: middle } = await call<{ id: string }>('jobs', {
    body: program(PROGRAM, 2, { name: 'middle', options: { interactive: true, checkpointMs: 1 } }),
  });
  for (const [n, hold] of HOLDS.entries()) {
    const last = `step ${hold - (hold % 5) - 1} `;
    await until('both are there', async () =>
      (await Promise.all([0, 1].map((t) => call<string>(`jobs/${middle}/tasks/${t}/stdout`)))).every((s) =>
        s.includes(last),
      ),
    );
    await until('newer images', async () => {
      const images = await call<{ task: number; serial: number }[]>(`jobs/${middle}/images`);
      return [0, 1].every((t) => images.some((i) => i.task === t && i.serial > n));
    });
    if (n < HOLDS.length - 1) await call(`jobs/${middle}/stdin`, { body: 'go on\n' });
  }
  const { id: waiting } = await call<{ id: string }>('jobs', {
    body: program(`console.log('later');`, 2, {
      name: 'waiting',
      room: code,
      stdin: Buffer.from('x').toString('base64'),
    }),
  });
  await until('the last words of the first', async () =>
    Object.hasOwn((await readRecord(join(dataDir, 'jobs', ended)))?.sums ?? {}, 'history.bin'),
  );
  for (const n of nodes) n.kill();
  await server.kill();
  return { ended, middle, waiting };
}

/** All that a user can see of the directory, once a server runs on it. */
export async function viewOf(call: Call, f: Fixture): Promise<Record<string, unknown>> {
  const out: Record<string, unknown> = {};
  const see = async (name: string, get: () => Promise<unknown>): Promise<void> => {
    out[name] = await get().catch((e: Error) => `ERROR ${e.message}`);
  };
  await see('jobs', async () =>
    (await call<JobView[]>('jobs')).map((j) => [
      j.id,
      j.name,
      j.state === 'stalled' ? 'running' : j.state,
      j.error?.code,
    ]),
  );
  await see('tokens', async () =>
    (await call<{ name: string; role: string }[]>('tokens')).map((t) => [t.name, t.role]),
  );
  await see('rooms', async () => (await call<{ name: string }[]>('rooms')).map((r) => r.name));
  for (const job of [f.ended, f.middle, f.waiting]) {
    await see(`submission of ${job}`, () => call(`jobs/${job}/submission`));
    for (const task of [0, 1])
      for (const stream of ['stdout', 'stderr'])
        await see(`${stream} ${task} of ${job}`, () => call(`jobs/${job}/tasks/${task}/${stream}`));
    await see(`files of ${job}`, async () => {
      const { outputs } = await call<JobView>(`jobs/${job}`);
      return Promise.all(
        outputs.map(async ({ path, bytes }) => [
          path,
          bytes,
          await call<string>(`jobs/${job}/files/${path}`).catch((e: Error) => e.message),
        ]),
      );
    });
  }
  await see('counters', async () =>
    (await call<JobView>(`jobs/${f.ended}`)).tasks.map((t) => [t.messagesIn, t.bytesOut, t.exitCode]),
  );
  await see('report', async () => {
    const r = await call<Record<string, unknown>>(`jobs/${f.ended}/report`);
    return [r.ranks, r.spentMs, r.nodes, r.outputs];
  });
  await see(
    'timeline',
    async () => (await call<{ events: unknown[]; shares: string }>(`jobs/${f.ended}/timeline`)).shares,
  );
  return out;
}

/**
 * Lets the job in the middle go on to its end, on new nodes. @returns what it says in the end, in terms of the right
 * answer
 */
export async function finishMiddle(url: string, f: Fixture): Promise<string> {
  const call = caller(url);
  const job = await call<JobView>(`jobs/${f.middle}`).catch(() => undefined);
  if (!job) return 'is not there';
  if (job.state === 'failed') return `failed: ${job.error?.code} ${job.error?.message}`;
  const nodes = [];
  for (const name of ['c', 'd'])
    nodes.push(await startHeadlessNode({ server: url, slots: 1, name, allowTypeScript: true }));
  try {
    await call(`jobs/${f.middle}/stdin`, { body: 'go on\n' }).catch(() => undefined);
    let view: JobView | undefined;
    const over = await until('the end', async () => {
      view = await call<JobView>(`jobs/${f.middle}`);
      return ['done', 'failed'].includes(view.state);
    }).then(
      () => true,
      () => false,
    );
    if (!over)
      return `hangs: ${view?.state} ${JSON.stringify(view?.tasks.map((t) => [t.state, t.incarnation, t.activity]))}`;
    if (view!.state === 'failed') return `failed: ${view!.error?.code} ${view!.error?.message}`;
    for (const [task, answer] of answers().entries()) {
      const stdout = await call<string>(`jobs/${f.middle}/tasks/${task}/stdout`);
      const sums = await call<string>(`jobs/${f.middle}/files/sums-${task}.txt`).catch(
        (e: Error) => `ERROR ${e.message}`,
      );
      if (stdout !== answer.stdout || sums !== answer.sums)
        return `WRONG ANSWER of rank ${task}: ${(sums === answer.sums ? stdout : sums).slice(0, 100)}`;
    }
    return 'right answer';
  } finally {
    for (const n of nodes) n.kill();
  }
}

export const filesBelow = (dir: string): string[] =>
  (
    readdirSync(dir, { recursive: true, withFileTypes: true }) as unknown as {
      isFile(): boolean;
      parentPath: string;
      path: string;
      name: string;
    }[]
  )
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath ?? e.path, e.name).slice(dir.length + 1))
    .sort();
