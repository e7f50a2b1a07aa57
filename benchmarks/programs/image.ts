// Checkpoints at command. args: megabytes of registered data. Rank 0 reads commands from standard input, one a line:
//   take K   ranks below K change all their data and take a checkpoint at the same time; rank 0 prints [{stallMs, at}]:
//            how long `here` took, and when it began (the job's clock, ms)
//   end
import { COMM_WORLD as comm, args, checkpoint, exit, stdin } from 'mayfly';

const data = new Float64Array((Number(args[0]) * 1024 * 1024) / 8);
const state = { taken: 0, gathering: false, at: 0, began: 0 };
checkpoint.register('data', data);
checkpoint.register('state', state);
if (checkpoint.open({ intervalMs: 1e9 }).restarted) {
  checkpoint.rollback('data');
  checkpoint.rollback('state');
}
for (;;) {
  if (!state.gathering) {
    const line = comm.bcastObject(comm.rank === 0 ? stdin.readLine() : null, 0);
    const [command, count] = (line ?? 'end').split(' ');
    if (command === 'end') exit(0);
    state.gathering = true;
    state.at = 0;
    if (comm.rank < Number(count)) {
      state.taken++;
      // Pages that differ from one another, from rank to rank and from checkpoint to checkpoint.
      let x = 1 + comm.rank * 7919 + state.taken * 104729;
      for (let i = 0; i < data.length; i++) data[i] = x = (x * 16807) % 2147483647;
      state.at = Date.now();
      state.began = performance.now();
      checkpoint.here(true);
    }
  }
  // A restarted rank comes back here, and reads the clock as it did.
  const all = comm.gatherObject({ stallMs: state.at > 0 ? performance.now() - state.began : 0, at: state.at }, 0);
  if (comm.rank === 0) console.log(JSON.stringify(all!.filter((x) => x.at > 0)));
  state.gathering = false;
}
