// Tries: to reach the layer, the device and the rings by replacing methods of the MPI objects, which belong to the
// program
// Stood for: the arguments of calls between methods may contain more than the methods do
// Ends: done, failed MPI_ERROR, failed PROGRAM_ERROR
import * as mpi from 'mayfly';
import { attempt, caught } from './canaries.js';
const { COMM_WORLD: comm, SUM, ERRORS_RETURN } = mpi;
for (const c of [comm, COMM_SELF]) c.setErrhandler(ERRORS_RETURN);
const request = comm.isend(Float64Array.of(1), comm.rank, 3);
const objects = [
  comm,
  SUM,
  request,
  comm.group ?? comm,
  mpi.datatype(Float64Array),
  mpi.ERRORS_RETURN,
  mpi.createKeyval({}),
  mpi.MPIError,
];
const look = (o, from, depth) => {
  if (depth > 6 || o === null || (typeof o !== 'object' && typeof o !== 'function')) return;
  caught(o, from);
  if (ArrayBuffer.isView(o)) return caught(o.buffer, from);
  for (const key of attempt(() => Reflect.ownKeys(o).slice(0, 200)) ?? [])
    look(
      attempt(() => o[key]),
      `${from}.${String(key)}`,
      depth + 1,
    );
};
for (const object of objects)
  for (let p = object; p && p !== Object.prototype && p !== Function.prototype; p = Object.getPrototypeOf(p))
    for (const key of Reflect.ownKeys(p)) {
      const d = Object.getOwnPropertyDescriptor(p, key);
      if (typeof d.value !== 'function' || key === 'constructor') continue;
      attempt(() =>
        Object.defineProperty(p, key, {
          value(...a) {
            look(this, String(key), 0);
            a.forEach((x) => look(x, String(key), 0));
            return Reflect.apply(d.value, this, a);
          },
        }),
      );
    }
const got = new Float64Array(1);
attempt(() => comm.recv(got, comm.rank, 3));
attempt(() => request.wait());
attempt(() => comm.allreduce(1, SUM));
attempt(() => comm.bcastObject({ a: 1 }, 0));
attempt(() => comm.dup());
for (const name of ['context', 'layer', '_context', 'device', 'runtime'])
  for (const o of objects)
    caught(
      attempt(() => o[name]),
      name,
    );
console.log('looked', got[0]);
