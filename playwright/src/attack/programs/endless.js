// Tries: to hold its slot for ever
// Stood for: a loop without a call of MPI cannot be asked for anything
// Ends: cancelled
import { COMM_WORLD as comm } from 'mayfly';
console.log('begins', comm.rank);
for (let i = 0; i >= 0; i = (i + 1) % 1000);
