/** The comm side of the ring soak, in a worker of its own as in production: echoes every record. */
import { parentPort, workerData } from 'node:worker_threads';
import { CommSide, SAFETY_MS, waitAsync } from '../src/ring/index.ts';

const { memory, byMessage, port } = workerData as {
  memory: SharedArrayBuffer;
  byMessage: boolean;
  port: import('node:worker_threads').MessagePort;
};
let waiting: Uint8Array[] = [];
let wakes = 0;
const side: CommSide = new CommSide(memory, serve, byMessage ? undefined : waitAsync);
function write(r: Uint8Array): boolean {
  const at = side.down.reserve(r.length);
  if (at < 0) return false;
  side.down.bytes.set(r, at);
  side.down.commit(r.length);
  return true;
}
function serve(): void {
  wakes++;
  let n = 0;
  while (n < waiting.length && write(waiting[n]!)) n++;
  waiting = waiting.slice(n);
  for (let budget = 200; budget > 0; budget--) {
    const at = side.up.peek();
    if (at < 0) break;
    const r = side.up.bytes.slice(at, at + side.up.length);
    side.up.take();
    if (waiting.length > 0 || !write(r)) waiting.push(r);
  }
  side.up.release();
  const woke = side.down.publish();
  if (!side.sleep(waiting.length > 0, waiting[0]?.length ?? 0)) setImmediate(serve);
  // Beside the engine's promise, which stays outstanding.
  else if (woke && wakes % 2 === 0) setImmediate(() => side.linger(0.1));
}
setInterval(() => {
  side.look();
  parentPort!.postMessage({ lost: side.lost, lostByRank: side.lostByRank, wakes });
}, SAFETY_MS);
port.on('message', () => side.woken());
if (!side.sleep(false)) serve();
