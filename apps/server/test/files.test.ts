/**
 * MPI-IO on real headless nodes (world-host.ts O5): ranks write together and by a shared pointer while the server is
 * killed with SIGKILL, a node dies, and the server is killed again. Rank 0 holds every phase until the fault is done;
 * the others are in the middle of their writes then.
 */
import { startHeadlessNode, type HeadlessNode } from '@mayfly/node/headless';
import type { JobView, NodeView } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { freshDir, later, TOKEN, until } from './harness.ts';
import { startProcess } from './server-process.ts';

const PHASES = 3;
const WRITES = 30;
const size = 4;
const PROGRAM = `
import { COMM_WORLD as comm, File, SEEK_SET, checkpoint, stdin } from 'mayfly';
const { rank, size } = comm;
const grid = File.open(comm, 'out/grid.bin', 'rw');
const journal = File.open(comm, 'out/journal.bin', 'rw');
grid.setView(8, Int32Array, { blocks: [[2 * rank, 2]], extent: 2 * size });
journal.setView(0, Int32Array);
const state = { phase: 0, sum: 0 };
checkpoint.register('state', state);
if (checkpoint.open().restarted) checkpoint.rollback('state');
for (; state.phase < ${PHASES}; state.phase++) {
  checkpoint.here();
  const { phase } = state;
  console.log('phase', phase);
  if (rank === 0) stdin.readLine(); // until the test has done its fault
  for (let i = 0; i < ${WRITES}; i++) {
    const n = phase * ${WRITES} + i;
    journal.writeShared(Int32Array.of(rank, n));
    const back = new Int32Array(2);
    if (i % 2 === 0) grid.writeAt(Int32Array.of(rank, n), 4 * n);
    grid.readAt(back, 4 * n);
    state.sum += back[1]!;
  }
  journal.writeOrdered(Int32Array.of(rank, 1000 + phase));
  grid.writeAtAll(Int32Array.of(rank, -phase), 4 * (phase * ${WRITES}) + 2);
}
const first = new Int32Array(2 * size);
journal.seekShared(0, SEEK_SET);
comm.barrier();
console.log('end', state.sum, grid.size, journal.readAtAll(first, 0), journal.positionShared);
grid.close();
journal.close();
`;
/**
 * A closed socket means loss soon; silence, and a slow return after a restart, which a busy machine produces by itself,
 * do not.
 */
const PATIENCE = { graceMs: 300, silentMs: 120_000, restartGraceMs: 120_000 };

it(
  'files are what they would have been, although a node and twice the server are killed in the middle of the ' +
    'writes',
  async () => {
    const dataDir = await freshDir();
    const settings = { dataDir, channelMemories: 2, dispatcher: PATIENCE };
    let server = await startProcess(settings);
    const { url, port } = server;
    const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const r = await fetch(`${url}/api/${path}`, {
        ...init,
        headers: { authorization: `Bearer ${TOKEN}`, ...init.headers },
      });
      if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`);
      return r;
    };
    const node = async (name: string): Promise<HeadlessNode> => {
      const n = await startHeadlessNode({ server: url, allowTypeScript: true, slots: 2, name });
      later(() => n.close());
      return n;
    };
    const a = await node('a');
    await node('b');
    const submission = {
      program: { language: 'typescript', entry: 'main.ts', sources: { 'main.ts': PROGRAM } },
      size,
      options: { interactive: true, checkpointMs: 300 },
    };
    const { id } = (await (
      await call('jobs', {
        method: 'POST',
        body: JSON.stringify(submission),
        headers: { 'content-type': 'application/json' },
      })
    ).json()) as { id: string };
    const view = async (): Promise<JobView> => (await call(`jobs/${id}`)).json() as Promise<JobView>;
    const said = (text: string) => async (): Promise<boolean> => {
      for (let t = 0; t < size; t++)
        if (!(await (await call(`jobs/${id}/tasks/${t}/stdout`)).text()).includes(text)) return false;
      return true;
    };
    const goOn = (): Promise<Response> =>
      call(`jobs/${id}/stdin`, { method: 'POST', body: '\n', headers: { 'content-type': 'application/octet-stream' } });
    const killServer = async (): Promise<void> => {
      await server.kill();
      server = await startProcess({ ...settings, port });
    };

    await until('the first phase', said('phase 0'));
    await killServer();
    await goOn();
    await until('the second phase', said('phase 1'));
    await until(
      'both nodes are back',
      async () => ((await (await call('nodes')).json()) as NodeView[]).filter((n) => n.state === 'here').length === 2,
    );
    const before = (await view()).faults.length;
    a.kill();
    await node('c');
    await until('two ranks are lost', async () => (await view()).faults.length >= before + 2);
    await goOn();
    await until('the third phase', said('phase 2'));
    await killServer();
    await goOn();
    let v: JobView | undefined;
    await until('the job ends', async () => ['done', 'failed', 'cancelled'].includes((v = await view()).state));
    expect(v!.error ?? v!.state).toBe('done');
    // Two, or more where a machine that stood still has lost a connection for good.
    expect(v!.tasks.filter((t) => t.incarnation > 0).length).toBeGreaterThanOrEqual(2);

    const numbers = async (path: string, from = 0): Promise<Int32Array> =>
      new Int32Array((await (await call(`jobs/${id}/files/${path}`)).arrayBuffer()).slice(from));
    const total = PHASES * WRITES;
    // Two pairs of each row of the view belong to a write: the first stays what it was, or is zero.
    const expected = new Int32Array(2 * size * (2 * total - 3));
    for (let rank = 0; rank < size; rank++) {
      const put = (element: number, values: readonly number[]): void =>
        values.forEach(
          (x, i) => (expected[Math.floor((element + i) / 2) * 2 * size + 2 * rank + ((element + i) % 2)] = x),
        );
      for (let n = 0; n < total; n++) if ((n % WRITES) % 2 === 0) put(4 * n, [rank, n]);
      for (let phase = 0; phase < PHASES; phase++) put(4 * phase * WRITES + 2, [rank, phase === 0 ? 0 : -phase]);
    }
    const grid = await numbers('out/grid.bin', 8);
    expect([...grid]).toEqual([...expected.subarray(0, grid.length)]);
    expect([...expected.subarray(grid.length)].every((x) => x === 0)).toBe(true);
    // By the shared pointer: every record once, in the order of each rank; the ordered ones by rank behind those of
    // their phase.
    const journal = await numbers('out/journal.bin');
    expect(journal.length).toBe(2 * size * (total + PHASES));
    const records = Array.from(
      { length: journal.length / 2 },
      (_, i) => [journal[2 * i]!, journal[2 * i + 1]!] as const,
    );
    for (let rank = 0; rank < size; rank++)
      expect(records.filter(([r]) => r === rank).map(([, n]) => n)).toEqual(
        Array.from({ length: PHASES }, (_, p) => [
          ...Array.from({ length: WRITES }, (_, i) => p * WRITES + i),
          1000 + p,
        ]).flat(),
      );
    for (let phase = 0; phase < PHASES; phase++) {
      const at = records.findIndex(([, n]) => n === 1000 + phase);
      expect(records.slice(at, at + size).map(([r]) => r)).toEqual([0, 1, 2, 3]);
    }
    expect(await server.stop()).toBe(0);
  },
);
