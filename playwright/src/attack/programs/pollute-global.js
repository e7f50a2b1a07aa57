// Tries: to replace names of the global object that our code and Node look up
// Stood for: Node reads globalThis.Error.prepareStackTrace for every stack, whatever Error has become
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm, SUM } from 'mayfly';
import { attempt, caught, hostileError } from './canaries.js';
let replaced = 0;
for (const name of [
  ...Object.getOwnPropertyNames(globalThis),
  'Error',
  'process',
  'Buffer',
  'queueMicrotask',
  'DOMException',
  'AbortController',
  'MessageChannel',
  'Event',
  'EventTarget',
  'performance',
  'primordials',
]) {
  if (name === '__mayfly') continue;
  const before = attempt(() => globalThis[name]);
  const evil = Object.assign(
    function (...a) {
      caught(this, name);
      a.forEach((x) => caught(x, name));
    },
    {
      prepareStackTrace(e, sites) {
        sites.forEach((s) => {
          caught(
            attempt(() => s.getThis()),
            'getThis',
          );
          caught(
            attempt(() => s.getFunction()),
            'getFunction',
          );
        });
        return 'x';
      },
    },
  );
  const absent = attempt(() => typeof before === 'function' && before.name) === undefined;
  if (absent) continue;
  attempt(() => {
    globalThis[name] = evil;
  });
  if (typeof before === 'function' && globalThis[name] !== before) replaced++;
}
attempt(() => {
  globalThis.Error = { prepareStackTrace: (e, sites) => sites.forEach((s) => caught(s.getThis(), 'getThis')) };
});
console.log('replaced', replaced, new Error('x').stack.split('\n')[0], comm.allreduce(1, SUM));
throw hostileError();
