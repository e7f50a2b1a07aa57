/**
 * The built-in objects of a rank's thread are closed (rank/harden.ts): no program changes them, and one that means no
 * harm does not notice.
 */
import { describe, expect, it } from 'vitest';
import { runInThread } from './rank-thread.ts';

describe('a program does not get out of its thread', () => {
  it('by changing a built-in object', async () => {
    const end = await runInThread(`'use strict';
      const { COMM_WORLD: comm, SUM } = __mayfly;
      const caught = [],
        evil = function (...a) {
          caught.push([this, a]);
        };
      const owners = {
        Object,
        Function,
        Array,
        String,
        Number,
        Boolean,
        BigInt,
        Symbol,
        Map,
        Set,
        WeakMap,
        Date,
        RegExp,
        Promise,
        Error,
        TypeError,
        RangeError,
        ArrayBuffer,
        DataView,
        Uint8Array,
        Int32Array,
        Float64Array,
        TextEncoder,
        TextDecoder,
      };
      const prototypes = {
        TypedArray: Object.getPrototypeOf(Uint8Array.prototype),
        ArrayIterator: Object.getPrototypeOf([][Symbol.iterator]()),
        MapIterator: Object.getPrototypeOf(new Map().entries()),
        Iterator: Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())),
        Generator: Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())),
        AsyncFunction: Object.getPrototypeOf(async () => 0),
        JSON,
        Reflect,
        Symbol,
        Error,
      };
      for (const [name, c] of Object.entries(owners)) {
        prototypes[name + '.prototype'] = c.prototype;
        prototypes[name] = c;
      }
      let tried = 0;
      for (const [name, o] of Object.entries(prototypes)) {
        const news = [
          'queryObjects',
          'get',
          'then',
          'toJSON',
          'value',
          'transfer',
          '0',
          'return',
          Symbol.iterator,
          Symbol.species,
          Symbol.hasInstance,
          Symbol.isConcatSpreadable,
          Symbol.toPrimitive,
          'stackTraceLimitless',
          'prepareStackTrace',
        ];
        for (const key of [...news, ...Reflect.ownKeys(o)]) {
          if (name === 'Error' && key === 'stackTraceLimit') continue;
          tried++;
          if (name === 'Array.prototype' && key === 'length') continue;
          if (
            Reflect.defineProperty(o, key, { get: evil, set: evil, configurable: true }) ||
            Reflect.defineProperty(o, key, { value: evil }) ||
            (Reflect.deleteProperty(o, key) && Reflect.ownKeys(o).includes(key))
          )
            console.log('changed', name, String(key));
          try {
            o[key] = evil;
            if (Reflect.getOwnPropertyDescriptor(o, key)?.value === evil) console.log('assigned', name, String(key));
          } catch {}
          try {
            o.__defineSetter__(key, evil);
            console.log('setter', name, String(key));
          } catch {}
        }
        try {
          Object.setPrototypeOf(o, new Proxy({}, {}));
          console.log('another prototype for', name);
        } catch {}
      }
      for (const name of [
        'Error',
        'Map',
        'Array',
        'Object',
        'Uint8Array',
        'Promise',
        'JSON',
        'Math',
        'Symbol',
        'globalThis',
        '__mayfly',
        'console',
        'structuredClone',
        'TextEncoder',
      ])
        try {
          globalThis[name] = evil;
          console.log('global', name);
        } catch {}
      console.log(
        tried > 500,
        comm.allreduce(3, SUM),
        JSON.stringify(comm.bcastObject({ a: [1, { b: 'c' }] }, 0)),
        caught.length,
      );
      comm.sendObject([1, 2], 0);
      console.log(comm.recvObject(0).value.length);
    `);
    expect(end).toEqual({ stdout: 'true 3 {"a":[1,{"b":"c"}]} 0\n2\n', stderr: '', exit: { code: 0 } });
  });
});

describe('a program that means no harm', () => {
  it('does with its own objects and classes what it always did', async () => {
    const end = await runInThread(`'use strict';
      const o = {};
      o.toString = () => 'mine';
      o.valueOf = () => 7;
      o.hasOwnProperty = 1;
      o.constructor = Object;
      function Old(x) {
        this.x = x;
      }
      Old.prototype.toString = function () {
        return 'old ' + this.x;
      };
      Old.prototype.constructor = Old;
      function Sub(x) {
        Old.call(this, x);
      }
      Sub.prototype = Object.create(Old.prototype);
      Sub.prototype.constructor = Sub;
      function OldError(m) {
        this.message = m;
        this.name = 'OldError';
      }
      OldError.prototype = Object.create(Error.prototype);
      OldError.prototype.constructor = OldError;
      class Mine extends Error {
        constructor(m) {
          super(m);
          this.name = 'Mine';
          this.message += '!';
        }
      }
      class Stack extends Array {
        push(x) {
          return super.push(2 * x);
        }
        get top() {
          return this[this.length - 1];
        }
      }
      class Counter extends Map {
        get(k) {
          return super.get(k) ?? 0;
        }
      }
      const s = new Stack();
      s.push(3);
      s.toString = () => 's';
      const c = new Counter();
      c.set('a', c.get('a') + 1);
      const f = function () {};
      f.toString = () => 'f';
      f.call = 5;
      f.extra = 6;
      const table = Object.create(null);
      table.toString = 1;
      table.__proto__ = 2;
      const d = new Date(0);
      d.toString = () => 'd';
      const m = new Map();
      m.toString = () => 'm';
      globalThis.counter = 1;
      Math.twice = (x) => 2 * x;
      Error.stackTraceLimit = 3;
      console.log(
        String(o),
        +o,
        String(new Sub(1)),
        new OldError('e') instanceof Error,
        String(new OldError('e')),
        String(new Mine('x')),
        s.top,
        String(s),
        s instanceof Stack,
        s.map((x) => x) instanceof Stack,
        c.get('a'),
        String(f),
        f.call + f.extra,
        Object.keys(table).length,
        String(d),
        String(m),
        counter,
        Math.twice(2),
        Object.keys(o).length,
      );
    `);
    expect(end.exit).toEqual({ code: 0 });
    expect(end.stdout).toBe('mine 7 old 1 true OldError: e Mine: x! 6 s true true 1 f 11 2 d m 1 4 4\n');
  });

  it('hears why a built-in object cannot be changed', async () => {
    const end = await runInThread(
      `'use strict'; Array.prototype.sum = function () { return this.reduce((a, b) => a + b, 0); };`,
    );
    expect(end.exit?.abort?.message).toBe(
      'TypeError: Cannot add property sum, object is not extensible (built-in objects are closed to ' +
        'programs: make a function or a class of your own)',
    );
    const replaced = await runInThread(`'use strict'; Object.prototype.toString = () => 'x';`);
    expect(replaced.exit?.abort?.message).toBe(
      'TypeError: toString cannot be replaced here: built-in objects are closed to programs: make a function ' +
        'or a class of your own',
    );
  });
});
