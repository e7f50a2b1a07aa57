// Tries: proxies, getters and revoked objects as arguments of MPI calls
// Stood for: traps run in the middle of our code, and may change arguments after their check
// Ends: done, failed MPI_ERROR
import * as mpi from 'mayfly';
import { attempt, caught } from './canaries.js';
const { COMM_WORLD: comm } = mpi;
comm.setErrhandler(mpi.ERRORS_RETURN);
const handler = new Proxy(
  {},
  {
    get:
      (_, trap) =>
      (...a) => {
        a.forEach((x) => caught(x, trap));
        return Reflect[trap](...a);
      },
  },
);
const values = () => [
  new Proxy(new Float64Array(4), handler),
  new Proxy({}, handler),
  new Proxy([1, 2], handler),
  {
    valueOf() {
      caught(this, 'valueOf');
      return 0;
    },
    get length() {
      return 1e4;
    },
    0: 1,
  },
  { counts: new Proxy([1], handler), data: new Float64Array(1) },
  Proxy.revocable({}, {}).proxy,
  new Proxy(() => 0, handler),
  NaN,
  -1,
  2 ** 40,
  1n,
  Symbol('s'),
  'x',
  null,
  undefined,
];
let calls = 0;
for (const name of [
  'send',
  'isend',
  'ssend',
  'sendObject',
  'split',
  'setName',
  'setAttr',
  'setInfo',
  'createCart',
  'abortless',
  'group',
  'probe',
  'iprobe',
  'setErrhandler',
  'callErrhandler',
  'sendInit',
  'psendInit',
  'translateRanks',
  'compare',
  'reduceLocal',
])
  for (const a of values())
    for (const b of [0, new Proxy({}, handler), -5]) {
      calls++;
      attempt(() => comm[name]?.(a, b, a));
    }
for (const f of [
  mpi.datatype,
  mpi.struct,
  mpi.waitall,
  mpi.waitany,
  mpi.testall,
  mpi.startall,
  mpi.dimsCreate,
  mpi.files.write,
  mpi.files.read,
  mpi.print,
  mpi.checkpoint.register,
])
  for (const a of values()) {
    calls++;
    attempt(() => f(a, a));
  }
console.log(calls > 500, new Proxy({}, handler), comm.rank);
