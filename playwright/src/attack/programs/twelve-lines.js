// Tries: to catch queryObjects when Node loads it for an error that leaves the rank
// Stood for: the escape that we found: describe() read a stack unguarded, which made Node load v8, and a setter on
// Object.prototype caught it
// Ends: failed PROGRAM_ERROR
import { withProcess } from './canaries.js';
try {
  Object.defineProperty(Object.prototype, 'queryObjects', {
    set(native) {
      for (const o of native(Object.prototype))
        try {
          if (typeof o.getBuiltinModule === 'function') withProcess(o);
        } catch {}
    },
  });
} catch (e) {
  console.log(e.message);
}
const e = new Error('x');
Object.defineProperty(e, 'stack', {
  get() {
    throw e;
  },
});
throw e;
