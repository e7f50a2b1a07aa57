// Tries: to catch what our code holds by replacing methods of typed arrays, ArrayBuffer and DataView
// Stood for: set, subarray and DataView read and write rings and frames
// Ends: failed PROGRAM_ERROR
import { COMM_WORLD as comm, SUM } from 'mayfly';
import { attempt, caught, hostileError } from './canaries.js';
let replaced = 0;
const owners = {
  TypedArray: Object.getPrototypeOf(Uint8Array),
  'TypedArray.prototype': Object.getPrototypeOf(Uint8Array.prototype),
  Uint8Array,
  'Uint8Array.prototype': Uint8Array.prototype,
  'Int32Array.prototype': Int32Array.prototype,
  'Float64Array.prototype': Float64Array.prototype,
  ArrayBuffer,
  'ArrayBuffer.prototype': ArrayBuffer.prototype,
  'DataView.prototype': DataView.prototype,
};
for (const [where, o] of Object.entries(owners))
  for (const key of [
    ...Reflect.ownKeys(o),
    '0',
    '1',
    'then',
    'return',
    'toJSON',
    'get',
    'set',
    Symbol.iterator,
    Symbol.species,
    Symbol.isConcatSpreadable,
    Symbol.hasInstance,
    Symbol.toPrimitive,
  ]) {
    if (key === 'stackTraceLimit') continue;
    const before = attempt(() => o[key]);
    const evil = function (...a) {
      caught(this, where);
      a.forEach((x) => caught(x, where));
      return typeof before === 'function' ? Reflect.apply(before, this, a) : before;
    };
    attempt(() => {
      o[key] = evil;
      if (Object.getOwnPropertyDescriptor(o, key).value === evil) replaced++;
    });
    if (Reflect.defineProperty(o, key, { get: evil, set: evil, configurable: true })) replaced++;
    if (Reflect.deleteProperty(o, key) && before !== undefined && Object.hasOwn(o, key)) replaced++;
  }
const got = new Float64Array(4);
comm.sendrecv(Float64Array.of(1, 2, 3, 4), comm.rank, 1, got, comm.rank, 1);
console.log(
  'replaced',
  replaced,
  'sum',
  comm.allreduce(1, SUM),
  got.join(),
  comm.bcastObject({ a: [1, 'b'] }, 0).a.length,
);
throw hostileError();
