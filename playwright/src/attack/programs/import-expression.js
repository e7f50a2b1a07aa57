// Tries: import() of a module of Node
// Stood for: code loaded while the program runs
// Ends: refused COMPILE_FAILED, refused FORBIDDEN_IMPORT
import { COMM_WORLD as comm } from 'mayfly';
import('node:child_process').then((m) => m.execSync('true'));
console.log(comm.rank);
