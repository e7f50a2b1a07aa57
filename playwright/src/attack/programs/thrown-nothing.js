// Tries: undefined, symbols and objects without a prototype as errors, one per rank
// Stood for: a handler assumes that a thrown value is an error
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm } from 'mayfly';
throw [undefined, Symbol('x'), Object.create(null), null][comm.rank % 4];
