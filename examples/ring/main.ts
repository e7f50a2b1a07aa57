/**
 * A token goes round the ring of ranks. Every rank adds its rank + 1 to each number in it, so that after L laps through
 * P ranks every number has grown by L · P (P + 1) / 2: if a message were lost, doubled or out of order, the sum would
 * tell.
 *
 *   --laps 1000     how often it goes round
 *   --numbers 16    its length
 */
import { COMM_WORLD as comm, args, checkpoint, exit } from 'mayfly';

const option = (name: string, otherwise: number): number => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(args[at + 1]);
};
const laps = option('laps', 1000);
const numbers = option('numbers', 16);

const { rank, size } = comm;
const next = (rank + 1) % size;
const previous = (rank + size - 1) % size;

const token = Float64Array.from({ length: numbers }, (_, i) => i);
const state = { lap: 0 };
checkpoint.register('token', token);
checkpoint.register('state', state);
if (checkpoint.open().restarted) {
  checkpoint.rollback('token');
  checkpoint.rollback('state');
}

for (; state.lap < laps; state.lap++) {
  checkpoint.here();
  comm.progress(state.lap, laps);
  if (rank > 0) comm.recv(token, previous);
  for (let i = 0; i < numbers; i++) token[i]! += rank + 1;
  comm.send(token, next);
  if (rank === 0) {
    comm.recv(token, previous);
    if ((state.lap + 1) % Math.ceil(laps / 10) === 0)
      console.log(`lap ${state.lap + 1}: the first number is ${token[0]}`);
  }
}

if (rank === 0) {
  const growth = (laps * size * (size + 1)) / 2;
  const wrong = token.findIndex((value, i) => value !== i + growth);
  if (wrong < 0) console.log(`PASS: every number has grown by ${growth} in ${laps} laps through ${size} ranks`);
  else {
    console.log(`FAIL: number ${wrong} is ${token[wrong]}, not ${wrong + growth}`);
    exit(1);
  }
}
