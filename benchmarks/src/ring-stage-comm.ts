/** The comm worker's half of ring-stage.ts, in a worker of its own as the real one: hands every record straight back. */
import { workerData } from 'node:worker_threads';
import { CommSide, SAFETY_MS } from '@mayfly/node/ring';

const { memory } = workerData as { memory: SharedArrayBuffer };
const LARGEST = 64 * 1024 + 64;
const comm = new CommSide(memory, () => echo());

function echo(): void {
  do {
    for (let at = comm.up.peek(); at >= 0; at = comm.up.peek()) {
      const n = comm.up.length;
      const to = comm.down.reserve(n);
      if (to < 0) break;
      comm.down.bytes.set(comm.up.bytes.subarray(at, at + n), to);
      comm.down.commit(n);
      comm.up.take();
    }
    comm.down.publish();
    comm.up.release();
  } while (!comm.sleep(comm.up.peek() >= 0, LARGEST, comm.up.peek() < 0));
}

setInterval(() => comm.look(), SAFETY_MS);
echo();
