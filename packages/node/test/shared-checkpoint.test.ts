/**
 * checkpoint.* of a script whose program recovers itself (protocol `app`, FT-MPI's rebuild): a rank fails by itself, a
 * node is killed, and the answer is that of an undisturbed run.
 */
import { until } from '@mayfly/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Bench } from './harness.ts';

const bench = new Bench();
beforeAll(async () => {
  await bench.start();
  for (let i = 0; i < 3; i++) await bench.node(3);
});
afterAll(() => bench.close());

/**
 * Arguments: the step at which rank 1 fails; the step at which rank 0 waits for a line of input; ratio; what others
 * keep: 0 copies, 1 a checksum, 2 a copy at the partner node, 3 nothing (all is on disk); whether rank 1
 * damages the newest of its files on disk before it fails.
 */
const CHECKPOINTS = `
import { COMM_SELF, COMM_WORLD as world, ERR_ARG, ft, args, stdin, checkpoint, SUM, ERRORS_RETURN, MPIError } from 'mayfly';
import { File, MODE_RDWR } from 'mayfly';
world.setErrhandler(ERRORS_RETURN);
const [lose = -1, hold = -1, ratio = 1000, way = 0, damages = 0] = args.map(Number);
const disk = way === 3;
const coded = disk ? 0 : way;
const code = (['copies', 'checksum', 'pair'] as const)[coded];
/** One byte behind the head of the newest file of this process becomes another. */
function damage(): void {
  const found: [round: number, path: string][] = [];
  for (let context = 0; context < 64; context++)
    for (const slot of [0, 1]) {
      const path = 'mpi-ckpt/' + context + '/' + world.rank + '.' + slot;
      try {
        const file = File.open(COMM_SELF, path, MODE_RDWR);
        const round = new Uint8Array(1);
        file.readAt(round, 0);
        file.close();
        found.push([round[0]!, path]);
      } catch (e) {
        if (!(e instanceof MPIError)) throw e;
      }
    }
  if (found.length !== 2) throw new Error('files: ' + found.join());
  const [, newest] = found.sort((a, b) => b[0] - a[0])[0]!;
  const file = File.open(COMM_SELF, newest, MODE_RDWR);
  file.writeAt(Uint8Array.of(255), 40);
  file.close();
}
const cells = new Float64Array(1001);
const state = { step: 0, seen: [] as number[] };
let total = 0;
let held = false;
checkpoint.register('cells', cells);
checkpoint.register('state', state);
checkpoint.register(7, { get: () => total, set: (t: number) => void (total = t) });
function refused(options: object): void {
  try {
    checkpoint.open(options);
  } catch (e) {
    if (e instanceof MPIError && e.errorClass === ERR_ARG) return;
  }
  throw new Error('not refused: ' + JSON.stringify(options));
}
for (const bad of coded ? [{ code: 'none' }, { code: 'checksum', copies: 2 }, { code: 'weighted', group: 1 }, { code: 'pair', disk: true }] : []) refused(bad);
if (coded && !ft.restarted) {
  checkpoint.open({ copies: 2, code: 'real' });
  checkpoint.here();
  checkpoint.rollback('cells');
  checkpoint.close();
}
let after = checkpoint.open(disk ? { disk } : { copies: 1, ratio, code }).restarted;
if (after !== ft.restarted) throw new Error('open says ' + after);
for (let i = 0; i < cells.length && !after; i++) cells[i] = world.rank + i;
for (;;)
  try {
    if (after) {
      checkpoint.rollback('cells');
      checkpoint.rollback('state');
      checkpoint.rollback(7);
      after = false;
    }
    while (state.step < 12) {
      checkpoint.here();
      if (state.step === hold && world.rank === 0 && !held) {
        held = true;
        console.log('holds');
        stdin.readLine();
      }
      if (state.step === lose && world.rank === 1 && !ft.restarted && damages === 1) damage();
      if (state.step === lose && world.rank === 1 && !ft.restarted) throw new RangeError('fails');
      const left = new Float64Array(1);
      world.sendrecv(cells.subarray(1000), (world.rank + 1) % world.size, 1, left, (world.rank + world.size - 1) % world.size);
      for (let i = 0; i < cells.length; i++) cells[i] = cells[i] * 0.5 + left[0] + i;
      total += world.allreduce(cells[500], SUM);
      state.seen.push(state.step++);
    }
    world.barrier();
    break;
  } catch (e) {
    if (!(e instanceof MPIError)) throw e;
    ft.recover();
    after = true;
  }
checkpoint.close();
console.log(world.rank + ': ' + total + ' ' + cells[7] + ' ' + state.seen.join());
`;

const submit = (...args: number[]): Promise<string> =>
  bench.submit(CHECKPOINTS, 4, {
    args: args.map(String),
    options: { protocol: 'app', ft: { communicators: 'rebuild' }, mapBy: 'node', interactive: true },
  });
async function answer(id: string): Promise<string[]> {
  const { job, stdout, stderr } = await bench.ended(id);
  expect(job.error, stderr.join()).toBeUndefined();
  return stdout.flatMap((text) => text.split('\n').filter((line) => /^\d:/.test(line))).sort();
}

let whole: string[];
it('an undisturbed run', async () => {
  whole = await answer(await submit());
  expect(whole).toHaveLength(4);
  expect(whole[0]).toMatch(/ 0,1,2,3,4,5,6,7,8,9,10,11$/);
});

it('a rank that fails goes on from the memory of others, also where the disk has some', async () => {
  expect(await answer(await submit(5))).toEqual(whole);
  expect(await answer(await submit(9, -1, 2))).toEqual(whole);
});

it('a rank that fails goes on from the disk, where no other has its data', async () => {
  expect(await answer(await submit(5, -1, 1000, 3))).toEqual(whole);
});

it('"the latest coherent copy": where the newest on disk is damaged at one, all go back to the one before', async () => {
  expect(await answer(await submit(5, -1, 1000, 3, 1))).toEqual(whole);
});

it('a node that is killed, with its ranks, while others keep checksums', async () => {
  const id = await submit(-1, 6, 1000, 1);
  const { tasks } = await bench.until(id, (j) => j.outputBytes > 0);
  const at = [1, 2, 3].map((t) => tasks[t]!.node).find((n) => n !== tasks[0]!.node)!;
  bench.nodes.find((n) => n.node === at)!.kill();
  await bench.until(id, (j) => j.faults.length > 0);
  await bench.input(id, 'go');
  expect(await answer(id)).toEqual(whole);
});

it('pairs: a rank that fails, then a node of the other pair', async () => {
  await bench.clear(0);
  for (let i = 0; i < 5; i++) await bench.node(1); // four with ranks, so always two pairs
  const id = await submit(5, 8, 1000, 2);
  const { tasks } = await bench.until(id, (j) => j.outputBytes > 0);
  bench.nodes.find((n) => n.node === tasks[2]!.node)!.kill();
  await bench.until(id, (j) => j.tasks[2]!.state === 'failed');
  await bench.input(id, 'go');
  expect(await answer(id)).toEqual(whole);
});

/** Says so before the thousandth checkpoint, and when it is whole, and waits for a line. */
const THOUSAND = `
import { COMM_WORLD as world, checkpoint, stdin } from 'mayfly';
const state = { n: 0 };
function wait(): void {
  if (world.rank === 0) {
    console.log(state.n + ' checkpoints');
    stdin.readLine();
  }
  world.barrier();
}
checkpoint.register('state', state);
checkpoint.open({ copies: 1 });
while (state.n < 1001) {
  state.n++;
  checkpoint.here();
  if (state.n === 999 || state.n === 1001) wait();
}
checkpoint.close();
`;

it('by default "the ratio of stable disk algorithm to imem-m-rep algorithm is set to 1 : 1000"', async () => {
  const options = { protocol: 'app', ft: { communicators: 'rebuild' }, mapBy: 'node', interactive: true } as const;
  const id = await bench.submit(THOUSAND, 2, { options });
  const onDisk = async (said: number): Promise<string[]> => {
    const text = async (): Promise<string> => (await bench.api(`jobs/${id}/tasks/0/stdout?from=0`)).text();
    await until(
      () => `${said} checkpoints`,
      async () => (await text()).includes(`${said} checkpoints`),
    );
    return (await bench.view(id)).outputs.flatMap(({ path }) => (path.startsWith('mpi-ckpt/') ? [path] : []));
  };
  expect(await onDisk(999)).toEqual([]);
  await bench.input(id);
  expect(await onDisk(1001)).toHaveLength(2);
  await bench.input(id);
  expect((await bench.ended(id)).job.error).toBeUndefined();
});
