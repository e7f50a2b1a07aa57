/** The rank's side of the ring soak: sends records of drawn sizes, and checks that each comes back, in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { emptyHeader, HEADER_BYTES, Kind, readHeader, writeHeader } from '@mayfly/wire';
import { RankSide } from '../src/ring/index.ts';

const { memory, seed, records, port } = workerData as {
  memory: SharedArrayBuffer;
  seed: number;
  records: number;
  port: import('node:worker_threads').MessagePort;
};
const side = new RankSide(memory, () => port.postMessage('wake'));
let x = seed | 1;
const draw = (n: number): number => {
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return (x >>> 0) % n;
};
const h = emptyHeader(Kind.DATA);
let sent = 0;
let got = 0;
let bytes = 0;
const sizes: number[] = [];
const receive = (): void => {
  const at = side.down.peek();
  const r = readHeader(side.down.view, at);
  got++;
  const body = side.down.bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + r.bytes);
  if (r.channel !== got || r.bytes !== sizes.shift())
    throw new Error(`record ${got} came back as ${r.channel} with ${r.bytes} bytes`);
  if (r.bytes > 0 && (body[0] !== (got & 255) || body[r.bytes - 1] !== ((got >> 8) & 255)))
    throw new Error(`record ${got} came back damaged`);
  side.down.take();
  if (draw(3) === 0) side.down.release();
};
while (sent < records) {
  // A burst, then wait for some or all of its answers: both "nothing there" and "ring full" happen on both sides.
  const burst = draw(10) === 0 ? 1 + draw(200) : 1 + draw(4);
  for (let i = 0; i < burst; i++) {
    const n = draw(8) === 0 ? 0 : 2 + (draw(20) === 0 ? draw(16000) : draw(200));
    while (sizes.length > 300) {
      if (side.down.empty) {
        side.down.release();
        side.block(() => !side.down.empty, false);
      }
      receive();
    }
    const at = side.reserve(HEADER_BYTES + n);
    sent++;
    h.channel = sent;
    h.bytes = n;
    writeHeader(side.up.view, at, h);
    if (n > 0) {
      side.up.bytes[at + HEADER_BYTES] = sent & 255;
      side.up.bytes[at + HEADER_BYTES + n - 1] = (sent >> 8) & 255;
    }
    side.up.commit(HEADER_BYTES + n);
    sizes.push(n);
    bytes += n;
    if (draw(4) !== 0) side.up.publish();
  }
  side.up.publish();
  const all = draw(2) === 0;
  while (sizes.length > (all ? 0 : 250)) {
    if (side.down.empty) {
      side.down.release();
      side.block(() => !side.down.empty, false);
    }
    receive();
  }
}
while (sizes.length > 0) {
  if (side.down.empty) {
    side.down.release();
    side.block(() => !side.down.empty, false);
  }
  receive();
}
parentPort!.postMessage({ sent, got, bytes });
