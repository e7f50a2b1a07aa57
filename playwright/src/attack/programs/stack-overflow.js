// Tries: to use up the stack inside the handler of its own error
// Stood for: a handler that fails has no handler
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm } from 'mayfly';
const deep = (o) => {
  try {
    return deep(o) + comm.rank;
  } finally {
  }
};
const e = new Error('deep');
for (const name of ['stack', 'message', 'name']) Object.defineProperty(e, name, { get: () => deep(e) });
const run = () => {
  try {
    run();
  } catch {
    throw e;
  }
};
run();
