/** A first MPI program: every rank says who it is, and they add up their ranks. */
import { COMM_WORLD as comm, SUM } from 'mayfly';

console.log(`hello from rank ${comm.rank} of ${comm.size}`);

const sum = comm.allreduce(comm.rank, SUM);
if (comm.rank === 0) console.log(`the ranks add up to ${sum}`);
