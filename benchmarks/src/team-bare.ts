/**
 * The peer of the team benchmark, one of two worker threads: bare round trips over `Atomics`, without messages. Before
 * a side sleeps it looks `looks` times. And one copy of so many bytes, from one buffer to another.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { median } from './table.ts';

const { memory, leads, looks, reps, batches, copyBytes } = workerData as {
  memory: SharedArrayBuffer;
  leads: boolean;
  looks: number;
  reps: number;
  batches: number;
  copyBytes: number;
};
const words = new Int32Array(memory);
/** On cache lines of their own. */
const [mine, other] = leads ? [0, 32] : [32, 0];

function give(value: number): void {
  Atomics.store(words, other, value);
  Atomics.notify(words, other);
}
function take(value: number): void {
  for (let i = 0; i < looks; i++) if (Atomics.load(words, mine) === value) return;
  for (let seen = Atomics.load(words, mine); seen !== value; seen = Atomics.load(words, mine))
    Atomics.wait(words, mine, seen);
}

const usPerRoundTrip: number[] = [];
let n = 0;
for (let b = -1; b < batches; b++) {
  const began = performance.now();
  for (let i = 0; i < reps; i++) {
    n++;
    if (leads) give(n);
    take(n);
    if (!leads) give(n);
  }
  if (b >= 0) usPerRoundTrip.push(((performance.now() - began) * 1000) / reps);
}
let usPerCopy = 0;
if (leads) {
  const from = new Uint8Array(copyBytes).fill(1);
  const to = new Uint8Array(copyBytes);
  const copies: number[] = [];
  for (let b = 0; b < batches; b++) {
    const began = performance.now();
    for (let i = 0; i < 200; i++) to.set(from);
    copies.push(((performance.now() - began) * 1000) / 200);
  }
  usPerCopy = median(copies);
}
parentPort!.postMessage({ usPerRoundTrip: median(usPerRoundTrip), usPerCopy });
