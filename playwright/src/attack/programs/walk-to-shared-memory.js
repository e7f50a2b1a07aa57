// Tries: to reach the memory that the rank shares with its comm worker, from every object that it gets
// Stood for: writing into the ring forges frames of the rank
// Ends: done
import * as mpi from 'mayfly';
import { caught } from './canaries.js';
const { COMM_WORLD: comm, Op } = mpi;
comm.setErrhandler(mpi.ERRORS_RETURN);
const seen = new Set();
const walk = (root, from) => {
  const next = [[root, from]];
  while (next.length > 0) {
    const [o, path] = next.pop();
    if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) continue;
    seen.add(o);
    try {
      if (/Shared/.test(Object.prototype.toString.call(o))) console.log('ESCAPED: shared memory at', path);
      if (ArrayBuffer.isView(o)) {
        next.push([o.buffer, path + '.buffer']);
        continue;
      }
      for (const key of [...Reflect.ownKeys(o).slice(0, 500), '__proto__']) {
        const d = Reflect.getOwnPropertyDescriptor(o, key);
        next.push([d ? (d.value ?? d.get) : o[key], `${path}.${String(key)}`]);
        if (d?.get) next.push([o[key], path + '()']);
      }
    } catch (e) {
      next.push([e, path + '!']);
    }
  }
};
walk({ ...mpi }, 'mayfly');
const op = Op.create((a, b) => {
  walk(a, 'input');
  walk(b, 'result');
  caught(a.buffer, 'input');
  b[0] += a[0];
}, false);
const all = comm.allreduce(comm.rank, op);
const r = comm.irecv(new Float64Array(2), (comm.rank + comm.size - 1) % comm.size, 9);
comm.send(Float64Array.of(1, 2), (comm.rank + 1) % comm.size, 9);
walk(r.wait(), 'status');
comm.sendObject({ bytes: new Uint8Array(100_000) }, (comm.rank + 1) % comm.size, 1);
walk(comm.recvObject((comm.rank + comm.size - 1) % comm.size, 1), 'received');
const win = mpi.Win.create(new Int32Array(4));
win.fence();
win.put(Int32Array.of(7), (comm.rank + 1) % comm.size);
win.fence();
walk(win, 'window');
console.log(all, seen.size > 300);
