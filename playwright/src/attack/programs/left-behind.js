// Tries: to run code after its end: promises, async functions, microtasks, rejections, finalizers, thenables
// Stood for: code after the end of the program runs beside ours, and an unhandled rejection reaches Node
// Ends: done
import { COMM_WORLD as comm } from 'mayfly';
import { attempt, hostileError, withGlobal } from './canaries.js';
const later = (from) => () => {
  console.log('ESCAPED: ran later by', from);
  withGlobal(globalThis);
};
Promise.resolve().then(later('then'));
Promise.reject(hostileError());
(async () => {
  await null;
  later('await')();
})();
(async function* () {
  yield 1;
})()
  .next()
  .then(later('generator'));
Promise.resolve({ then: later('thenable') });
for (const name of ['queueMicrotask', 'setTimeout', 'setImmediate', 'requestAnimationFrame'])
  attempt(() => globalThis[name](later(name), 0));
attempt(() => new FinalizationRegistry(later('finalizer')).register({}, 1));
attempt(() => {
  globalThis.onmessage = later('onmessage');
  globalThis.onerror = later('onerror');
  globalThis.onunhandledrejection = later('rejection');
});
console.log('end', comm.rank);
