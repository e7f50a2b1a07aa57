/**
 * Backups of a data directory whose jobs run: restored elsewhere, they go on from that moment and end with their
 * answer.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHeadlessNode } from '@mayfly/node/headless';
import { restoreDirectory } from '@mayfly/storage';
import type { JobView } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { freshDir, later, TOKEN, until } from './harness.ts';
import { startProcess } from './server-process.ts';

const STEPS = 60;
/** A sum that goes round, with a wait for the test after every 20 steps. */
const PROGRAM = `
import { COMM_WORLD as comm, checkpoint, files, stdin } from 'mayfly';
const state = { step: 0, sum: 0 };
const got = new Float64Array(1);
checkpoint.register('state', state);
if (checkpoint.open().restarted) checkpoint.rollback('state');
const [right, left] = [(comm.rank + 1) % comm.size, (comm.rank + comm.size - 1) % comm.size];
for (; state.step < ${STEPS}; state.step++) {
  checkpoint.here();
  comm.send(new Float64Array([state.sum + comm.rank]), right);
  comm.recv(got, left);
  state.sum = got[0]! + state.step;
  files.append('sums-' + comm.rank + '.txt', state.sum + '\\n');
  if (state.step % 20 === 19) {
    console.log('step', state.step, state.sum);
    if (comm.rank === 0) stdin.readLine();
    comm.barrier();
  }
}
`;
const answer = (size: number): string[] => {
  let sums = Array<number>(size).fill(0);
  const out = Array<string>(size).fill('');
  for (let step = 0; step < STEPS; step++) {
    sums = sums.map((_, r) => sums[(r + size - 1) % size]! + ((r + size - 1) % size) + step);
    if (step % 20 === 19) sums.forEach((s, r) => (out[r] += `step ${step} ${s}\n`));
  }
  return out;
};

async function api<T>(url: string, method: string, path: string, body?: object | string): Promise<T> {
  const r = await fetch(`${url}/api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body === undefined
        ? {}
        : { 'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await r.text();
  expect(r.ok, text).toBe(true);
  return (r.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T;
}
const PATIENCE = { graceMs: 500, silentMs: 120_000, restartGraceMs: 1000 };

describe('a backup', () => {
  it('of a running job goes on elsewhere from its moment; nodes of the time after it cannot act in it', async () => {
    const size = 2;
    const dataDir = join(await freshDir(), 'data');
    const first = await startProcess({ dataDir, dispatcher: PATIENCE });
    for (const name of ['a', 'b']) {
      const n = await startHeadlessNode({ server: first.url, allowTypeScript: true, slots: 1, name });
      later(() => n.close(0));
    }
    const { id } = await api<{ id: string }>(first.url, 'POST', 'jobs', {
      program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': PROGRAM } },
      size,
      options: { interactive: true, checkpointMs: 50 },
    });
    const printed = (url: string, task: number): Promise<string> => api(url, 'GET', `jobs/${id}/tasks/${task}/stdout`);
    const goOn = (url: string): Promise<unknown> => api(url, 'POST', `jobs/${id}/stdin`, '\n');
    await until('the first wait', async () => (await printed(first.url, 0)).includes('step 19'));
    const taken = await api<{ path: string; files: number }>(first.url, 'POST', 'backup', {});
    expect(JSON.parse(await readFile(join(taken.path, 'backup.json'), 'utf8'))).toMatchObject({
      format: 4,
      files: taken.files,
    });

    // The job goes on behind the backup's moment, on new incarnations too.
    await goOn(first.url);
    await until('the second wait', async () => (await printed(first.url, 0)).includes('step 39'));
    await api(first.url, 'POST', `jobs/${id}/tasks/1/kill`);
    await until(
      'a later incarnation',
      async () => (await api<JobView>(first.url, 'GET', `jobs/${id}`)).tasks[1]!.incarnation === 1,
    );
    await first.kill();

    const restored = join(await freshDir(), 'restored');
    await restoreDirectory(taken.path, restored);
    // At the same address: the nodes of that time come back to it with what they hold.
    const second = await startProcess({ dataDir: restored, port: first.port, dispatcher: PATIENCE });
    expect(await printed(second.url, 0)).toBe(answer(size)[0]!.split('\n')[0] + '\n');
    await goOn(second.url);
    await goOn(second.url);
    await goOn(second.url);
    let view: JobView | undefined;
    await until(
      'the end',
      async () => (view = await api<JobView>(second.url, 'GET', `jobs/${id}`)).state === 'done',
    ).catch((e: Error) => {
      throw new Error(`${e.message}: ${JSON.stringify(view)}`);
    });
    expect(view!.tasks.every((t) => t.incarnation >= 1)).toBe(true);
    for (let t = 0; t < size; t++) {
      expect(await printed(second.url, t)).toBe(answer(size)[t]);
      expect(
        (await api<string>(second.url, 'GET', `jobs/${id}/files/sums-${t}.txt`)).trimEnd().split('\n'),
      ).toHaveLength(STEPS);
    }
    expect(await second.stop()).toBe(0);

    // The backup itself is as it was: it restores a second time.
    await restoreDirectory(taken.path, join(await freshDir(), 'again'));
  });

  it('is refused where it would overwrite something, or is none', async () => {
    const dataDir = join(await freshDir(), 'data');
    const server = await startProcess({ dataDir, dispatcher: PATIENCE });
    const { path } = await api<{ path: string }>(server.url, 'POST', 'backup', {});
    expect(await server.stop()).toBe(0);
    await expect(restoreDirectory(path, dataDir)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(restoreDirectory(dataDir, join(await freshDir(), 'x'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await writeFile(join(path, 'backup.json'), '{"format":99}');
    const target = join(await freshDir(), 'y');
    await expect(restoreDirectory(path, target)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' });
    await expect(stat(target)).rejects.toThrow();
  });
});
