// Tries: to break the layer by throwing from operations, error handlers and attribute functions, and by calling MPI
// inside of them
// Stood for: callbacks run inside our code
// Ends: failed PROGRAM_ERROR, failed MPI_ERROR, done
import { COMM_WORLD as comm, ERRORS_RETURN, ErrorHandler, Op, createKeyval } from 'mayfly';
import { attempt, hostileError } from './canaries.js';
const op = Op.create(() => {
  attempt(() => comm.barrier());
  throw hostileError();
}, true);
attempt(() => op.reduceLocal(Float64Array.of(1), Float64Array.of(2)));
comm.setErrhandler(
  ErrorHandler.create((c, e) => {
    attempt(() => c.setErrhandler(ERRORS_RETURN));
    Object.setPrototypeOf(e, null);
    throw hostileError();
  }),
);
attempt(() => comm.send(Float64Array.of(1), 12345));
const key = createKeyval({
  copy() {
    throw hostileError();
  },
  delete() {
    throw hostileError();
  },
});
attempt(() => comm.setAttr(key, 1));
attempt(() => comm.dup());
attempt(() => comm.deleteAttr(key));
attempt(() =>
  comm.bcastObject(
    {
      get x() {
        throw hostileError();
      },
    },
    0,
  ),
);
comm.barrier();
throw hostileError();
