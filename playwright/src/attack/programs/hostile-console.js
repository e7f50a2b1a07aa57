// Tries: to break the printing of values: getters, proxies, endless iterators, deep and cyclic objects
// Stood for: our code calls methods of every printed value
// Ends: done
import { COMM_WORLD as comm, print } from 'mayfly';
import { attempt, caught, hostileError } from './canaries.js';
const handler = new Proxy(
  {},
  {
    get:
      (_, trap) =>
      (...a) => {
        a.forEach((x) => caught(x, trap));
        throw hostileError();
      },
  },
);
let deep = {};
for (let i = 0; i < 1e5; i++) deep = { deep };
const endless = new Set();
Object.defineProperty(endless, Symbol.iterator, {
  *value() {
    for (let i = 0; ; i++) yield i;
  },
});
const cyclic = {};
cyclic.cyclic = cyclic;
const bomb = {
  [Symbol.toStringTag]: 'Date',
  getTime() {
    throw hostileError();
  },
  constructor: { name: Symbol('x') },
};
for (const v of [
  new Proxy({}, handler),
  new Proxy([], handler),
  new Proxy(() => 0, handler),
  deep,
  endless,
  cyclic,
  bomb,
  hostileError(),
  Object.create(null),
  Object.create(new Proxy({}, handler)),
  {
    get x() {
      throw 1;
    },
  },
  [new Proxy({}, handler)],
  new Map([[bomb, endless]]),
  Symbol('s'),
  -0,
  10n,
]) {
  attempt(() => console.log(v));
  attempt(() => console.error(v, { v }));
  attempt(() => print(v));
}
console.log('end', comm.rank);
