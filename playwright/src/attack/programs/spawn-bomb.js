// Tries: to start processes without end
// Stood for: processes start processes
// Ends: done, failed MPI_ERROR, failed PROGRAM_ERROR
import { COMM_WORLD as comm, ERRORS_RETURN, getParent } from 'mayfly';
import { attempt } from './canaries.js';
comm.setErrhandler(ERRORS_RETURN);
if (!getParent()) for (const n of [1e9, 1000, 100, -1, NaN]) attempt(() => comm.spawn([], n));
console.log('end', comm.rank);
