// Tries: to start endlessly many processes
// Stood for: processes start processes
// Ends: done, failed MPI_ERROR, failed PROGRAM_ERROR
import { COMM_SELF, COMM_WORLD as comm, ERRORS_RETURN, getParent } from 'mayfly';
import { attempt } from './canaries.js';
for (const c of [comm, COMM_SELF]) c.setErrhandler(ERRORS_RETURN);
if (!getParent()) for (const n of [1e9, 1000, 100, -1, NaN]) attempt(() => comm.spawn([], n));
console.log('end', comm.rank);
