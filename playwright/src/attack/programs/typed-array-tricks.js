// Tries: resizable, detached, oversized and subclassed typed arrays as buffers, changed while a request is open
// Stood for: an address may become invalid after its check
// Ends: done, failed PROGRAM_ERROR, failed MPI_ERROR
import { COMM_SELF, COMM_WORLD as comm, ERRORS_RETURN } from 'mayfly';
import { attempt, caught } from './canaries.js';
for (const c of [comm, COMM_SELF]) c.setErrhandler(ERRORS_RETURN);
const me = comm.rank;
const detached = new Float64Array(4);
const r = comm.irecv(detached, me, 1);
attempt(() => structuredClone(detached.buffer, { transfer: [detached.buffer] }));
attempt(() => comm.send(Float64Array.of(1, 2, 3, 4), me, 1));
attempt(() => r.wait());
const buffer = new ArrayBuffer(64, { maxByteLength: 1024 });
const shrinking = new Float64Array(buffer);
const s = comm.irecv(shrinking, me, 2);
attempt(() => buffer.resize(8));
attempt(() => comm.send(new Float64Array(8).fill(3), me, 2));
attempt(() => s.wait());
class Evil extends Float64Array {
  static get [Symbol.species]() {
    caught(this, 'species');
    return Object;
  }
  get buffer() {
    caught(this, 'buffer');
    return new ArrayBuffer(0);
  }
  get byteLength() {
    return 2 ** 40;
  }
  get byteOffset() {
    return -8;
  }
  get length() {
    return 1e9;
  }
  subarray(...a) {
    a.forEach((x) => caught(x, 'subarray'));
    return this;
  }
  slice() {
    return this;
  }
  set(...a) {
    a.forEach((x) => {
      caught(x, 'set');
      caught(x?.buffer, 'set');
    });
  }
}
for (const n of [0, 1, 100]) {
  attempt(() => comm.send(new Evil(n), me, 3));
  attempt(() => comm.recv(new Evil(n), me, 3));
  attempt(() => comm.sendrecv(new Evil(n), me, 4, new Evil(n), me, 4));
}
console.log('end');
