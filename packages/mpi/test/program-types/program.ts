/**
 * Never run: a program as users write it must pass the compiler against mayfly.d.ts, in the idioms that the
 * documentation shows.
 */
import {
  ANY_SOURCE,
  COMM_WORLD as comm,
  IN_PLACE,
  MPIError,
  SUM,
  Op,
  args,
  checkpoint,
  files,
  stdin,
  waitall,
  type CartComm,
  type Status,
} from 'mayfly';

const { rank, size } = comm;
const x = new Float64Array(10);
const state = { step: 0 };
checkpoint.register('x', x);
checkpoint.register('state', state);
if (checkpoint.open({ intervalMs: 1000 }).restarted) {
  checkpoint.rollback('x');
  checkpoint.rollback('state');
}
for (; state.step < Number(args[0] ?? 1); state.step++) checkpoint.here();

const total: number = comm.allreduce(rank);
const atRoot: number | undefined = comm.reduce(rank, SUM, 0);
const s: Status = comm.recv(x, ANY_SOURCE);
const { value, status } = comm.recvObject<{ row: number }>();
const send = rank === 0 ? IN_PLACE : x;
comm.gather(send, rank === 0 ? new Float64Array(10 * size) : null);
comm.gatherv(x, rank === 0 ? { data: new Float64Array(20), counts: [10, 10] } : null);
const grid: CartComm | null = comm.createCart([2, 2], [true, true]);
if (grid) grid.dup().shift(0, 1).dest.toFixed();
const op = Op.create((a: Float64Array, b: Float64Array) => {
  for (let i = 0; i < b.length; i++) b[i] = Math.hypot(a[i]!, b[i]!);
}, true);
comm.allreduce(IN_PLACE, x, op);
try {
  waitall([comm.isend(x, 0), comm.irecv(x)]);
} catch (e) {
  if (e instanceof MPIError) console.error(e.errorClass, e.className, e.statuses?.length);
}
console.log(
  total,
  atRoot,
  s.count(Float64Array),
  value.row,
  status.source,
  files.readText('a'),
  stdin.readLine(),
  performance.now(),
);
// @ts-expect-error a buffer is a typed array
comm.send([1, 2], 0);
// @ts-expect-error both buffers have one type
comm.allreduce(x, new Int32Array(10));
// @ts-expect-error errors are made by the library
new MPIError();
