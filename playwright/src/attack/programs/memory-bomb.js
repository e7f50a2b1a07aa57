// Tries: to end the whole node by using all memory in large pieces
// Stood for: a worker's heap limit ends the process when one piece is larger than what V8 keeps back
// Ends: crashed
import { COMM_WORLD as comm } from 'mayfly';
const kept = [];
for (let i = 0; comm.size > 0; i++) kept.push(new Array(2 ** 22).fill(i), 'x'.repeat(2 ** 24) + i);
