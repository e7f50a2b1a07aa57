// Asynchronous token rings: in every step each rank sends `window` messages to its right neighbour and receives as many
// from its left.
// args: JSON plan [{size, window, reps, batches}]. Writes ring-<rank>.json: microseconds per step, by plan entry and
// batch.
// With '--hold' rank 0 then waits for the end of its standard input, and the others for rank 0.
import { COMM_WORLD as comm, args, files, stdin, waitall } from 'mayfly';

interface Entry {
  size: number;
  window: number;
  reps: number;
  batches: number;
}
const plan = JSON.parse(args[0] ?? '[]') as Entry[];
const right = (comm.rank + 1) % comm.size;
const left = (comm.rank + comm.size - 1) % comm.size;
const out: number[][] = [];

for (const { size, window, reps, batches } of plan) {
  const body = new Uint8Array(size);
  const into = Array.from({ length: window }, () => new Uint8Array(size));
  const series: number[] = [];
  for (let b = -1; b < batches; b++) {
    // batch -1 warms up
    comm.barrier();
    const t0 = performance.now();
    for (let i = 0; i < reps; i++) {
      const receives = into.map((buffer) => comm.irecv(buffer, left, 1));
      for (let w = 0; w < window; w++) comm.isend(body, right, 1);
      waitall(receives);
    }
    if (b >= 0) series.push(((performance.now() - t0) * 1000) / reps);
  }
  out.push(series);
}
files.write(`ring-${comm.rank}.json`, JSON.stringify(out));
if (args[1] === '--hold') {
  if (comm.rank === 0) stdin.readAll();
  comm.barrier();
}
