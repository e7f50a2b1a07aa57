// Tries: error texts that look like stack frames of files, like reports and like markup; lone surrogates, control
// characters, 1 MB
// Stood for: the server maps stacks to sources, and pages show what the program wrote
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm } from 'mayfly';
import { secretFile } from './canaries.js';
const e = new Error(`<img src=x onerror=alert(1)> \ud800 \u0000 ${'x'.repeat(2 ** 20)}`);
e.name = '__proto__';
Object.defineProperty(e, 'stack', {
  value:
    `Error\n${'    at f (mayfly-program.js:999999999:1)\n    at g (mayfly-program.js:-1:NaN)\n'.repeat(500)}   ` +
    ` at h (${secretFile}:1:1 mayfly-program.js:1:1)\n//# sourceMappingURL=file://${secretFile} ` +
    'mayfly-program.js:1:1e999',
});
console.error('\u001b[2J\u0007<script>alert(1)</script>');
if (comm.rank === 0) throw e;
