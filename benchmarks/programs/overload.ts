// Many to one that does not look: every rank but 0 sends `count` messages of `bytes` bytes, and rank 0 first receives
// the last message of
// each, so that all before it are unmatched. All begin together. args: count, bytes. Writes overload-<rank>.json: when
// each send returned (the job's clock, ms).
import { COMM_WORLD as comm, args, files } from 'mayfly';

const [count = 0, bytes = 0] = args.map(Number);
const body = new Uint8Array(bytes);
const numbers = new DataView(body.buffer);
comm.barrier();
if (comm.rank === 0) {
  const end = new Uint8Array(1);
  for (let r = 1; r < comm.size; r++) comm.recv(end, r, 2);
  for (let n = 0; n < count; n++)
    for (let r = 1; r < comm.size; r++) {
      comm.recv(body, r, 1);
      if (numbers.getUint32(0) !== r || numbers.getUint32(4) !== n)
        throw new Error(`message ${n} of rank ${r} is message ${numbers.getUint32(4)} of rank ${numbers.getUint32(0)}`);
    }
  console.log('all', count * (comm.size - 1));
} else {
  const at: number[] = [];
  for (let n = 0; n < count; n++) {
    numbers.setUint32(0, comm.rank);
    numbers.setUint32(4, n);
    comm.send(body, 0, 1);
    at.push(Date.now());
  }
  files.write(`overload-${comm.rank}.json`, JSON.stringify(at));
  comm.send(new Uint8Array(1), 0, 2);
}
