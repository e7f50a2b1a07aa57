// Tries: to end several times, with invalid codes, and to continue after the end
// Stood for: nobody checks what follows an end
// Ends: failed ABORTED, failed MPI_ERROR, failed PROGRAM_ERROR
import { COMM_SELF, COMM_WORLD as comm, ERRORS_RETURN, exit } from 'mayfly';
import { attempt } from './canaries.js';
for (const c of [comm, COMM_SELF]) c.setErrhandler(ERRORS_RETURN);
attempt(() =>
  exit({
    valueOf() {
      exit(300);
      return 0;
    },
  }),
);
attempt(() => comm.abort(NaN));
attempt(() => comm.abort(2 ** 40));
try {
  comm.abort(7);
} finally {
  console.log('ESCAPED: went on after its end');
}
