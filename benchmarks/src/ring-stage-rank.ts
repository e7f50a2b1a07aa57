/** The rank's half of ring-stage.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { RankSide } from '@mayfly/node/ring';
import { HEADER_BYTES } from '@mayfly/wire';

const { memory, sizes } = workerData as { memory: SharedArrayBuffer; sizes: number[] };
const side = new RankSide(memory);
const CHUNK = 64 * 1024;

function roundTrip(bytes: number): void {
  const at = side.reserve(HEADER_BYTES + bytes);
  side.up.view.setUint8(at, 10);
  side.up.view.setUint32(at + 4, bytes, true);
  side.up.view.setUint32(at + 60, 0, true);
  side.up.commit(HEADER_BYTES + bytes);
  side.up.publish();
  side.block(() => side.down.peek() >= 0, false);
  side.down.take();
  side.down.release();
}

const out: [number, number][] = [];
for (const size of sizes) {
  const [part, parts] = [Math.min(size, CHUNK), Math.ceil(size / CHUNK)];
  for (let i = 0; i < 100; i++) roundTrip(part);
  const t0 = performance.now();
  for (let i = 0; i < 500; i++) roundTrip(part);
  out.push([size, ((performance.now() - t0) * 1000 * parts) / 500]);
}
parentPort!.postMessage(out);
