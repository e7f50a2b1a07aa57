/** Real programs on real headless nodes; the server is a process of its own, and dies. */
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import type { JobView, NodeView } from '@mayfly/wire';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freshDir, later, TOKEN, until } from './harness.ts';
import { startProcess } from './server-process.ts';

const RING = `
import { COMM_WORLD as comm, ANY_SOURCE, checkpoint, args, stdin } from 'mayfly';
const laps = Number(args[0]);
const { rank, size } = comm;
const state = { lap: 0 };
const token = new Float64Array(8);
checkpoint.register('state', state);
checkpoint.register('token', token);
if (checkpoint.open().restarted) { checkpoint.rollback('state'); checkpoint.rollback('token'); }
for (; state.lap < laps; state.lap++) {
  checkpoint.here();
  if (rank === 0 && (state.lap === 80 || state.lap === 140 || state.lap === 200)) stdin.readLine(); // until the test has done its fault
  if (rank === 0) comm.send(token, 1 % size);
  comm.recv(token, ANY_SOURCE);
  token[0]! += rank + 1;
  for (let i = 0, x = 0; i < 200_000; i++) x += Math.sqrt(i); // some work
  if (rank !== 0) comm.send(token, (rank + 1) % size);
  if (state.lap % 20 === 0) console.log('lap', state.lap, token[0]);
}
console.log('end', token[0]);
`;
/** Starts another process when there is a line of input, and lets it go at the next one. */
const SPAWNING = `
import { COMM_WORLD as comm, args, getParent, stdin } from 'mayfly';
const parent = getParent();
const word = Float64Array.of(7);
if (parent) {
  console.log('child', args.join());
  parent.send(word, 0, 1);
  parent.recv(word, 0, 2);
  parent.disconnect();
  console.log('let go by', word[0]);
} else {
  stdin.readLine();
  const children = comm.spawn(['x', 'y'], 1);
  children.recv(word, 0, 1);
  console.log('heard', word[0], 'of', children.remoteSize);
  stdin.readLine();
  children.send(Float64Array.of(8), 0, 2);
  children.disconnect();
}
`;
/**
 * A closed socket means loss soon; silence, and a slow return after a restart, which a busy machine produces by itself,
 * do not.
 */
const PATIENCE = { graceMs: 300, silentMs: 120_000, restartGraceMs: 120_000 };
const laps = 300;
const size = 4;

function expected(rank: number): string {
  let token = 0;
  const lines: string[] = [];
  let mine = 0;
  for (let lap = 0; lap < laps; lap++) {
    for (let t = 1; t < size; t++) {
      token += t + 1;
      if (t === rank) mine = token;
    }
    token += 1;
    if (rank === 0) mine = token;
    if (lap % 20 === 0) lines.push(`lap ${lap} ${mine}`);
  }
  return [...lines, `end ${mine}`, ''].join('\n');
}

async function node(url: string, name: string): Promise<HeadlessNode> {
  const n = await startHeadlessNode({ server: url, allowTypeScript: true, slots: 2, name });
  later(() => n.close());
  return n;
}

async function call(url: string, path: string, body?: object): Promise<Response> {
  return fetch(`${url}/api/${path}`, {
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}
const submit = async (url: string, options: object, source = RING, ranks = size): Promise<string> => {
  const r = await call(url, 'jobs', {
    program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': source } },
    size: ranks,
    args: [String(laps)],
    options: { ...options, interactive: true },
  });
  const body = (await r.json()) as { id: string };
  expect(r.status, JSON.stringify(body)).toBe(201);
  return body.id;
};
/** The fault is done: the ranks may go on to the next one. */
const goOn = async (url: string, id: string): Promise<void> => {
  const r = await fetch(`${url}/api/jobs/${id}/stdin`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/octet-stream' },
    body: '\n',
  });
  expect(r.status, await r.text()).toBeLessThan(300);
};
const stdout = async (url: string, id: string, task: number): Promise<string> =>
  (await call(url, `jobs/${id}/tasks/${task}/stdout`)).text();
const view = async (url: string, id: string): Promise<JobView> =>
  (await call(url, `jobs/${id}`)).json() as Promise<JobView>;

async function finish(url: string, id: string): Promise<JobView> {
  let v: JobView | undefined;
  await until('the job ends', async () =>
    ['done', 'failed', 'cancelled'].includes((v = await view(url, id)).state),
  ).catch((e: Error) => {
    throw new Error(`${e.message}: ${JSON.stringify(v)}`);
  });
  for (let t = 0; t < size; t++) expect(await stdout(url, id, t)).toBe(expected(t));
  return v!;
}

describe('a real program on headless nodes', () => {
  // One Channel Memory that syncs behind goes through the campaign of faults (playwright/tests/faults.spec.ts).
  it(
    'gives the same answer although a node is killed and the server is killed with SIGKILL, once in the ' +
      'middle of a spawn, strict durability and two Channel Memories',
    async () => {
      const dataDir = await freshDir();
      const settings = { dataDir, channelMemories: 2, dispatcher: PATIENCE };
      const first = await startProcess(settings);
      const a = await node(first.url, 'a');
      await node(first.url, 'b');
      const id = await submit(first.url, { checkpointMs: 300, durability: 'strict' });
      await until('the middle', async () => (await stdout(first.url, id, 0)).includes('lap 40'));
      await node(first.url, 's');
      const spawning = await submit(first.url, {}, SPAWNING, 1);
      await until('it runs', async () => (await view(first.url, spawning)).tasks[0]!.state === 'running');
      // Decided and in the journal: the server dies before the new process has a place, most likely, and the answer has
      // gone nowhere.
      const journal = join(dataDir, 'jobs', spawning, 'out', 'journal');
      const decided = statSync(journal).size;
      await goOn(first.url, spawning);
      while (statSync(journal).size === decided) await setImmediate();
      await first.kill();
      const second = await startProcess({ ...settings, port: first.port });
      await goOn(second.url, id);
      await until('the child has come', async () => (await stdout(second.url, spawning, 0)).includes('heard'));
      await until('it goes on', async () => (await stdout(second.url, id, 0)).includes('lap 100'));
      // Not `faults`: a machine that stood still may have torn a connection, and its ranks came back with it.
      expect((await view(second.url, id)).tasks.map((t) => t.incarnation)).toEqual([0, 0, 0, 0]);
      const before = (await view(second.url, id)).faults.length;
      // Ranks go on before their node's control connection is back; a node that had not come back yet would be waited
      // for.
      await until(
        'both nodes are back',
        async () =>
          ((await (await call(second.url, 'nodes')).json()) as NodeView[]).filter((n) => n.state === 'here').length ===
          3,
      );
      a.kill();
      await node(second.url, 'c');
      await until('two ranks are lost', async () => (await view(second.url, id)).faults.length >= before + 2);
      await goOn(second.url, id);
      await until('it goes on', async () => (await stdout(second.url, id, 0)).includes('lap 160'));
      await goOn(second.url, spawning);
      await second.kill();
      const third = await startProcess({ ...settings, port: first.port });
      await goOn(third.url, id);
      const v = await finish(third.url, id);
      expect(v.state).toBe('done');
      expect(v.tasks.filter((t) => t.incarnation > 0)).toHaveLength(2);
      await until('the spawned one has ended too', async () => (await view(third.url, spawning)).endedAt !== undefined);
      expect(await view(third.url, spawning)).toMatchObject({ state: 'done', size: 2, spawned: 1 });
      expect([await stdout(third.url, spawning, 0), await stdout(third.url, spawning, 1)]).toEqual([
        'heard 7 of 1\n',
        'child x,y\nlet go by 8\n',
      ]);
      expect(await third.stop()).toBe(0);
    },
  );

  it('restarts a job whose node died together with the server', async () => {
    const dataDir = await freshDir();
    const dispatcher = { ...PATIENCE, restartGraceMs: 1500 };
    const first = await startProcess({ dataDir, dispatcher });
    const a = await node(first.url, 'a');
    const b = await node(first.url, 'b');
    const id = await submit(first.url, { checkpointMs: 300 });
    await until('the middle', async () => (await stdout(first.url, id, 0)).includes('lap 60'));
    await first.kill();
    a.kill();
    b.kill();
    const second = await startProcess({ dataDir, port: first.port, dispatcher });
    await node(second.url, 'c');
    await node(second.url, 'd');
    for (let n = 0; n < 3; n++) await goOn(second.url, id);
    const v = await finish(second.url, id);
    expect(v.state).toBe('done');
    expect(v.faults.map((f) => f.cause)).toEqual(['restart', 'team', 'restart', 'team']); // two teams of two
  });

  it('ends a job at the start of the server whose program the disk has changed, and names the file', async () => {
    const dataDir = await freshDir();
    const first = await startProcess({ dataDir, dispatcher: PATIENCE });
    const a = await node(first.url, 'a');
    await node(first.url, 'b');
    const id = await submit(first.url, { checkpointMs: 300 });
    await until('the middle', async () => (await stdout(first.url, id, 0)).includes('lap 60'));
    await first.kill();
    // A node that comes back without the program would fetch it.
    a.kill();
    const program = join(dataDir, 'jobs', id, 'program.js');
    writeFileSync(program, readFileSync(program).subarray(0, 300));
    const second = await startProcess({ dataDir, port: first.port, dispatcher: PATIENCE });
    await until('the job ends', async () => (await view(second.url, id)).state === 'failed');
    const v = await view(second.url, id);
    expect([v.state, v.error?.code]).toEqual(['failed', 'DAMAGED_DATA']);
    expect(v.error!.message).toContain(`jobs/${id}/program.js is damaged`);
    expect(v.faults).toEqual([]);
  });
});
