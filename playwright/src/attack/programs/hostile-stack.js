// Tries: an error whose stack, message and name throw, or call MPI, or never agree
// Stood for: describe() reads them after the program has ended
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm } from 'mayfly';
import { hostileError } from './canaries.js';
throw hostileError((e, name) => {
  void comm.rank;
  if (name === 'stack')
    throw new Proxy(
      {},
      {
        get() {
          throw e;
        },
      },
    );
});
