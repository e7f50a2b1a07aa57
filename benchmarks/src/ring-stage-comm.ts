/**
 * The comm worker's half of ring-stage.ts, in a worker of its own as the real one: hands every record straight back.
 */
import { workerData } from 'node:worker_threads';
import { CommSide, SAFETY_MS } from '@mayfly/node/ring';

const { memory } = workerData as { memory: SharedArrayBuffer };
const LARGEST = 64 * 1024 + 64;
const comm = new CommSide(memory, () => echo());

function echo(): void {
  let full: boolean;
  do {
    full = false;
    for (let at = comm.up.peek(); at >= 0; at = comm.up.peek()) {
      const n = comm.up.length;
      const to = comm.down.reserve(n);
      full = to < 0;
      if (full) break;
      comm.down.bytes.set(comm.up.bytes.subarray(at, at + n), to);
      comm.down.commit(n);
      comm.up.take();
    }
    comm.down.publish();
    comm.up.release();
    // Asked once: what comes while this side goes to sleep must not look like a full ring to one question and like an
    // empty one to the other.
  } while (!comm.sleep(full, LARGEST, !full));
}

setInterval(() => comm.look(), SAFETY_MS);
echo();
