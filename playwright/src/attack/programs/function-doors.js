// Tries: to turn text into code with the constructor of every kind of function
// Stood for: ways besides eval and Function: async, generator and async generator functions, bound ones, classes,
// accessors
// Ends: done
import { COMM_WORLD as comm, SUM } from 'mayfly';
import { attempt, withFunction } from './canaries.js';
const kinds = {
  f() {},
  arrow: () => 0,
  async a() {},
  *g() {},
  async *ag() {},
  bound: (() => 0).bind(null),
  cls: class {},
  native: Math.sin,
  method: comm.send,
  get: Object.getOwnPropertyDescriptor(Map.prototype, 'size').get,
  proxy: new Proxy(() => 0, {}),
  decoder: TextDecoder,
  clone: structuredClone,
  err: comm.constructor,
  sum: SUM.constructor,
};
for (const [name, f] of Object.entries(kinds)) {
  for (let o = f; o; o = Object.getPrototypeOf(o))
    for (const key of ['constructor', '__proto__']) attempt(() => withFunction(o[key], `${name}.${key}`));
  attempt(() => withFunction(Reflect.construct(Object.getPrototypeOf(f).constructor, ['return this']), name));
  attempt(() => withFunction((t) => Reflect.construct(Function, [t], f), name));
  attempt(() =>
    withFunction(
      (t) =>
        class extends f.constructor {
          constructor() {
            super(t);
          }
        },
      name,
    ),
  );
}
for (const name of ['eval', 'Function', 'execScript', 'setTimeout', 'setInterval', 'ShadowRealm', 'AsyncFunction'])
  attempt(() => withFunction(globalThis[name], name));
attempt(() => (0, globalThis['ev' + 'al'])('globalThis.out = 1') && console.log('ESCAPED: eval'));
attempt(() => new ShadowRealm().evaluate('1') && console.log('ESCAPED: realm'));
console.log('closed');
