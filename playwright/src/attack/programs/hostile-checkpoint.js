// Tries: checkpoint functions and data that throw, or change while they are read
// Stood for: images contain data of the program
// Ends: done, failed PROGRAM_ERROR, failed MPI_ERROR
import { COMM_SELF, COMM_WORLD as comm, ERRORS_RETURN, checkpoint } from 'mayfly';
import { attempt, caught, hostileError } from './canaries.js';
for (const c of [comm, COMM_SELF]) c.setErrhandler(ERRORS_RETURN);
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
attempt(() =>
  checkpoint.register('a', {
    get() {
      throw hostileError();
    },
    set(v) {
      caught(v, 'set');
    },
  }),
);
attempt(() => checkpoint.register('b', new Proxy({ x: 1 }, handler)));
attempt(() => checkpoint.register('__proto__', { y: 2 }));
attempt(() => checkpoint.register('c', new Proxy(new Float64Array(8), handler)));
const growing = new Uint8Array(new ArrayBuffer(8, { maxByteLength: 1 << 20 }));
attempt(() => checkpoint.register('d', growing));
attempt(() => checkpoint.open());
attempt(() => growing.buffer.resize(1 << 20));
for (let i = 0; i < 20; i++) attempt(() => checkpoint.here());
console.log('end', comm.rank);
