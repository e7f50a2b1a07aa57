// Tries: to reach classes of the engine's library through structuredClone, text coders and their errors
// Stood for: in Node these are JavaScript, and their errors have constructors of their own
// Ends: done
import { COMM_WORLD as comm } from 'mayfly';
import { attempt, caught, withFunction } from './canaries.js';
const handler = new Proxy(
  {},
  {
    get:
      (_, trap) =>
      (...a) => {
        a.forEach((x) => caught(x, trap));
        return Reflect[trap](...a);
      },
  },
);
const hostile = new Proxy({ transfer: [] }, handler);
for (const f of [
  () => structuredClone(() => 0),
  () => structuredClone(hostile),
  () => structuredClone({}, hostile),
  () => structuredClone({}, { transfer: new Proxy([new ArrayBuffer(8)], handler) }),
  () =>
    structuredClone({
      get x() {
        throw new Proxy({}, handler);
      },
    }),
  () => new TextDecoder('no-such'),
  () => new TextDecoder(hostile),
  () => new TextDecoder('utf-8', hostile).decode(hostile),
  () => TextDecoder.prototype.decode.call(hostile),
  () => TextEncoder.prototype.encode.call(hostile, hostile),
  () => new TextEncoder().encodeInto(hostile, hostile),
  () => atob(hostile),
  () => atob('*'),
  () => btoa(hostile),
  () => crypto.getRandomValues(hostile),
  () => performance.now.call(hostile),
])
  try {
    caught(f(), String(f));
  } catch (e) {
    for (let o = e; o; o = attempt(() => Object.getPrototypeOf(o))) {
      caught(o, 'error');
      attempt(() => withFunction(o.constructor.constructor, String(f)));
      for (const key of attempt(() => Reflect.ownKeys(o)) ?? []) {
        const v = attempt(() => o[key]);
        caught(v, String(key));
        attempt(() => {
          o[key] = 1;
        });
      }
    }
  }
console.log('end', comm.rank);
