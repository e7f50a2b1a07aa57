// Tries: to reach functions and receivers of our frames: call sites, caller, callee, arguments
// Stood for: CallSite.getThis and getFunction return objects of the stack
// Ends: done
import { COMM_WORLD as comm, Op } from 'mayfly';
import { attempt, caught } from './canaries.js';
const sites = (e, list) => {
  list.forEach((s) => {
    for (const name of ['getThis', 'getFunction', 'getEvalOrigin', 'getFileName']) {
      const v = attempt(() => s[name]());
      caught(v, name);
      if (typeof v === 'string' && /^\/|node:|file:/.test(v)) console.log('ESCAPED: path', v);
    }
  });
  return list;
};
attempt(() => {
  Error.prepareStackTrace = sites;
});
attempt(() => Object.defineProperty(Error, 'prepareStackTrace', { value: sites }));
attempt(() => {
  globalThis.Error = Object.assign(function () {}, { prepareStackTrace: sites });
});
function op(a, b) {
  caught(
    attempt(() => op.caller),
    'caller',
  );
  caught(
    attempt(() => op.arguments),
    'arguments',
  );
  caught(
    attempt(() => arguments.callee.caller),
    'callee',
  );
  const text = new Error('in').stack;
  if (/\/(?!.*mayfly-program)|node:/.test(text)) console.log('ESCAPED: the stack names', text);
  b[0] += a[0];
}
Op.create(op, true).reduceLocal(Float64Array.of(1), Float64Array.of(2));
const o = {};
attempt(() => Error.captureStackTrace(o));
console.log(typeof new Error('x').stack, typeof o.stack, comm.rank);
