/**
 * Sample sort (regular sampling, after Shi and Schaeffer 1992): every rank sorts its keys and offers P − 1 of them as
 * samples; the sorted samples give P − 1 splitters; every key goes to the rank of its range (alltoallv), and each rank
 * sorts what it got. Then the ranks, one after the other, hold all keys in order.
 *
 *   --keys 200000   keys per rank
 *   --rounds 10     data sets, one after the other
 *   --seed 1
 */
import { BXOR, COMM_WORLD as comm, MAX, PROC_NULL, SUM, args, checkpoint, exit } from 'mayfly';

const option = (name: string, otherwise: number): number => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(args[at + 1]);
};
const keysPerRank = option('keys', 200_000);
const rounds = option('rounds', 10);
const seed = option('seed', 1);
const { rank, size } = comm;

/** Keys of this rank in a round: xorshift32, and in odd rounds their squares, so that small keys are more frequent. */
function draw(round: number): Uint32Array<ArrayBuffer> {
  let x = Math.imul(seed + 1, 0x9e3779b9) ^ Math.imul(round * size + rank + 1, 0x85ebca6b) || 1;
  return Uint32Array.from({ length: keysPerRank }, () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    const u = (x >>> 0) / 4294967296;
    return Math.floor((round % 2 === 1 ? u * u : u) * 4294967295);
  });
}

/** First index whose key is not below `key`, in sorted keys. */
function lowerBound(keys: Uint32Array, key: number): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

const offsets = (counts: ArrayLike<number>): number[] => {
  const out: number[] = [];
  for (let i = 0, at = 0; i < counts.length; at += counts[i++]!) out.push(at);
  return out;
};

/** Sorts over all ranks. Returns this rank's range of the sorted keys. */
function sampleSort(keys: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  keys.sort();

  // Splitters from regular samples.
  const samples = Uint32Array.from({ length: size }, (_, i) => keys[Math.floor((i * keys.length) / size)] ?? 0);
  const all = new Uint32Array(size * size);
  comm.allgather(samples, all);
  all.sort();
  const splitters = Array.from({ length: size - 1 }, (_, i) => all[(i + 1) * size + (size >> 1) - 1]!);

  // Which part of the keys goes where, and how much comes from where.
  const bounds = [0, ...splitters.map((s) => lowerBound(keys, s)), keys.length];
  const sendCounts = Int32Array.from({ length: size }, (_, i) => bounds[i + 1]! - bounds[i]!);
  const receiveCounts = new Int32Array(size);
  comm.alltoall(sendCounts, receiveCounts);

  const mine = new Uint32Array(receiveCounts.reduce((a, b) => a + b, 0));
  comm.alltoallv(
    { data: keys, counts: sendCounts, displs: offsets(sendCounts) },
    { data: mine, counts: receiveCounts, displs: offsets(receiveCounts) },
  );
  return mine.sort();
}

/** What sorting may not change: how many keys, their sum, and the exclusive or of all their bits. */
function fingerprint(keys: Uint32Array): { count: number; sum: number; bits: number } {
  let sum = 0;
  let bits = 0;
  for (const key of keys) {
    sum += key;
    bits ^= key;
  }
  const xor = new Int32Array(1);
  comm.allreduce(Int32Array.of(bits), xor, BXOR);
  return { count: comm.allreduce(keys.length, SUM), sum: comm.allreduce(sum, SUM), bits: xor[0]! >>> 0 };
}

/** Whether the keys of this rank are in order, and none is below the last key of the ranks before. */
function inOrder(keys: Uint32Array): boolean {
  // An empty rank passes on what it has heard.
  const before = new Float64Array([-1]);
  if (rank > 0) comm.recv(before, rank - 1);
  comm.send(Float64Array.of(keys.at(-1) ?? before[0]!), rank + 1 < size ? rank + 1 : PROC_NULL);
  let last = before[0]!;
  for (const key of keys) {
    if (key < last) return false;
    last = key;
  }
  return true;
}

const state = { round: 0, failures: 0 };
checkpoint.register('state', state);
if (checkpoint.open().restarted) checkpoint.rollback('state');

for (; state.round < rounds; state.round++) {
  checkpoint.here();
  comm.progress(state.round, rounds);
  const keys = draw(state.round);
  const before = fingerprint(keys);
  const sorted = sampleSort(keys);
  const after = fingerprint(sorted);
  const disorder = comm.allreduce(inOrder(sorted) ? 0 : 1, SUM);
  const largest = comm.allreduce(sorted.length, MAX);
  const kept = before.count === after.count && before.sum === after.sum && before.bits === after.bits;
  if (disorder > 0 || !kept) state.failures++;
  if (rank === 0)
    console.log(
      `round ${state.round + 1}: ${after.count} keys, xor ${after.bits.toString(16).padStart(8, '0')}, ` +
        (`largest part ${((largest * size) / after.count).toFixed(3)} of the mean, ` +
          `${kept ? 'all kept' : 'KEYS LOST'}, ${disorder > 0 ? `${disorder} ranks OUT OF ORDER` : 'in order'}`),
    );
}

if (rank === 0) {
  console.log(
    state.failures === 0
      ? `PASS: ${rounds} rounds sorted on ${size} ranks`
      : `FAIL: ${state.failures} of ${rounds} rounds are wrong`,
  );
  if (state.failures > 0) exit(1);
}
