/**
 * The program of the recorded jobs, and what it says: a sum that goes round two ranks, with waits for standard input on
 * the way.
 */
export const STEPS = 40;
/**
 * Where the ranks wait for a line of standard input. The record is made while they wait at the last: images of earlier
 * steps are complete, and the log goes on behind them.
 */
export const HOLDS = [10, 18, 25];

export const PROGRAM = `
import { COMM_WORLD as comm, ANY_SOURCE, checkpoint, files, stdin } from 'mayfly';
const state = { step: 0, sum: 0 };
const ballast = new Float64Array(1000);
const got = new Float64Array(1);
checkpoint.register('state', state);
checkpoint.register('ballast', ballast);
if (checkpoint.open({ intervalMs: 0 }).restarted) { checkpoint.rollback('state'); checkpoint.rollback('ballast'); }
const other = 1 - comm.rank;
for (; state.step < ${STEPS}; state.step++) {
  checkpoint.here();
  comm.send(new Float64Array([state.sum + comm.rank]), other);
  comm.recv(got, ANY_SOURCE);
  state.sum = got[0]! + state.step;
  ballast[state.step] = state.sum;
  files.append('sums-' + comm.rank + '.txt', state.sum + '\\n');
  if (state.step % 5 === 4) console.log('step', state.step, state.sum);
  if (${JSON.stringify(HOLDS)}.includes(state.step)) {
    if (comm.rank === 0) stdin.readLine();
    comm.barrier();
  }
}
console.log('all', ballast.reduce((a, b) => a + b));
`;

/** Standard output and the result file of each rank. */
export function answers(): { stdout: string; sums: string }[] {
  let sums = [0, 0];
  const all = [0, 0];
  const out = [0, 1].map(() => ({ stdout: '', sums: '' }));
  for (let step = 0; step < STEPS; step++) {
    sums = sums.map((_, r) => sums[1 - r]! + (1 - r) + step);
    sums.forEach((s, r) => {
      all[r]! += s;
      out[r]!.sums += `${s}\n`;
      if (step % 5 === 4) out[r]!.stdout += `step ${step} ${s}\n`;
    });
  }
  out.forEach((o, r) => (o.stdout += `all ${all[r]}\n`));
  return out;
}
