// Tries: to hold its slot for ever
// Stood for: a loop without an MPI call does not react to requests
// Ends: cancelled
import { COMM_WORLD as comm } from 'mayfly';
console.log('begins', comm.rank);
for (let i = 0; i >= 0; i = (i + 1) % 1000);
