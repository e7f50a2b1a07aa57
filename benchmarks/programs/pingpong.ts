// Round trips between ranks 0 and 1: microseconds per round trip by message size. args: JSON plan [{size, reps,
// batches}]
import { COMM_WORLD as comm, args, files } from 'mayfly';

interface Step {
  size: number;
  reps: number;
  batches: number;
}
const plan = JSON.parse(args[0] ?? '[]') as Step[];
const out: { size: number; usPerRoundTrip: number[] }[] = [];

for (const { size, reps, batches } of plan) {
  const body = new Uint8Array(size);
  const usPerRoundTrip: number[] = [];
  for (let b = -1; b < batches; b++) {
    // batch -1 warms up
    const t0 = comm.rank === 0 ? performance.now() : 0;
    for (let i = 0; i < reps; i++)
      if (comm.rank === 0) {
        comm.send(body, 1, 0);
        comm.recv(body, 1, 0);
      } else {
        comm.recv(body, 0, 0);
        comm.send(body, 0, 0);
      }
    if (b >= 0 && comm.rank === 0) usPerRoundTrip.push(((performance.now() - t0) * 1000) / reps);
  }
  out.push({ size, usPerRoundTrip });
}
if (comm.rank === 0) files.write('series.json', JSON.stringify(out));
