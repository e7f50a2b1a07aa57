// Tries: to compile and run WebAssembly of its own, which could allocate and share memory
// Stood for: our libm needs the engine's WebAssembly
// Ends: done
import { COMM_WORLD as comm } from 'mayfly';
import { attempt } from './canaries.js';
const bytes = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
attempt(() => new WebAssembly.Instance(new WebAssembly.Module(bytes)) && console.log('ESCAPED: WebAssembly'));
attempt(
  () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }) && console.log('ESCAPED: shared memory'),
);
for (const f of [Math.sin, Math.pow, Math.random, performance.now, structuredClone])
  for (let o = f; o; o = Object.getPrototypeOf(o))
    for (const key of Reflect.ownKeys(o)) {
      const v = attempt(() => o[key]);
      if (/WebAssembly/.test(Object.prototype.toString.call(v))) console.log('ESCAPED:', key);
    }
attempt(() => structuredClone(new SharedArrayBuffer(8)) && console.log('ESCAPED: shared memory'));
console.log('none', comm.rank, Math.sin(1));
