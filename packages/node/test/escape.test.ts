/**
 * Programs that try to leave a rank's thread in Node, where nothing but the closed built-in objects (rank/harden.ts)
 * and the handlers of the rank stand in the way. Each leaves a mark on the disk if it gets out.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runInThread } from './rank-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-escape-'));
const MARK = join(folder, 'mark');
const PROBE = join(folder, 'probe.cjs');
beforeAll(() =>
  writeFileSync(
    PROBE,
    `const { process } = globalThis; Object.defineProperty(String.prototype, 'loadedModules', { value: () => ` +
      'process.moduleLoadList.slice() });',
  ),
);
beforeEach(() => rmSync(MARK, { force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a program that has found Node's `process` does with it. */
const GET_OUT =
  `const getOut = (process) => process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(MARK)}, ` + `'out');`;

describe('a program does not get out of its thread', () => {
  it('by a setter that catches what Node loads when an error of the program leaves the rank', async () => {
    const end = await runInThread(`(() => {
      ${GET_OUT}
      try {
        Object.defineProperty(Object.prototype, 'queryObjects', {
          set(native) {
            // All objects of the heap that inherit from an object.
            for (const o of native(Object.prototype))
              try {
                if (typeof o.getBuiltinModule === 'function') getOut(o);
              } catch {}
          },
        });
      } catch {}
      const e = new Error();
      Object.defineProperty(e, 'stack', {
        get() {
          throw e;
        },
      });
      throw e;
    })()`);
    expect(existsSync(MARK)).toBe(false);
    expect(end.exit?.abort?.code).toBe('PROGRAM_ERROR');
  });

  /** Each is an expression that is thrown; what the job says of it. */
  const THROWN: readonly (readonly [what: string, thrown: string, says: RegExp])[] = [
    [
      'an error whose stack throws',
      `Object.defineProperty(new Error('x'), 'stack', { get() { throw this; } })`,
      /^Error: x$/,
    ],
    [
      'an error whose message throws',
      `Object.defineProperty(new Error('x'), 'message', { get() { throw this; } })`,
      /an error that does not tell its message/,
    ],
    [
      'an error whose name is an object that cannot be a text',
      `Object.assign(new Error('x'), { name: { toString() { throw 1; } } })`,
      /^Error: x$/,
    ],
    [
      'an error whose stack uses up the stack',
      `Object.defineProperty(new Error('x'), 'stack', { get() { return this.stack; } })`,
      /^Error: x$/,
    ],
    [
      'an object that throws whatever is asked',
      `new Proxy({}, new Proxy({}, { get() { throw new Proxy({}, this); } }))`,
      /^uncaught: a object that cannot be shown$/,
    ],
    [
      'a revoked proxy',
      `(() => { const r = Proxy.revocable(function () {}, {}); r.revoke(); return r.proxy; })()`,
      /^uncaught: a function that cannot be shown$/,
    ],
    [
      'an object that cannot be a text',
      '({ toString() { throw this; }, toJSON() { throw this; }, [Symbol.toPrimitive]() { throw this; }, get ' +
        '[Symbol.toStringTag]() { throw this; } })',
      /^uncaught: a object that cannot be shown$/,
    ],
    [
      'an object that turns into itself',
      `({ toJSON() { return JSON.stringify(this); } })`,
      /^uncaught: \[object Object\]$/,
    ],
    ['a promise', `Promise.reject(1)`, /^uncaught: \{\}$/],
    ['a thenable', `({ then(f) { f(this); } })`, /^uncaught: \{\}$/],
    ['a symbol', `Symbol('s')`, /^uncaught: Symbol\(s\)$/],
    ['nothing', `undefined`, /^uncaught: undefined$/],
    ['null', `null`, /^uncaught: null$/],
    ['an object without a prototype', `Object.create(null)`, /^uncaught: \{\}$/],
    [
      'an error that takes the stack along',
      `(() => { const f = () => f(); try { f(); } catch (e) { return e; } })()`,
      /^RangeError: Maximum call stack/,
    ],
    ['an error of 4 million characters', `new Error('x'.repeat(4e6))`, /^Error: xxx/],
    [
      'an instance of a class of errors that denies it',
      `new (class extends Error { static [Symbol.hasInstance]() { throw 1; } })('x')`,
      /^Error: x$/,
    ],
  ];
  it.each(THROWN)('by throwing %s', async (_, thrown, says) => {
    const end = await runInThread(`throw ${thrown};`);
    expect(end.died).toBeUndefined();
    expect(end.exit?.abort?.code).toBe('PROGRAM_ERROR');
    expect(end.exit!.abort!.message.slice(0, 200)).toMatch(says);
  });

  it('by an error in whatever the MPI layer calls back', async () => {
    const end = await runInThread(`
      const { COMM_WORLD: comm, COMM_SELF, Op, ErrorHandler, createKeyval, ERRORS_RETURN } = __mayfly;
      const hostile = () => {
        throw new Proxy(
          {},
          {
            get() {
              throw new Proxy({}, this);
            },
            getPrototypeOf() {
              throw 1;
            },
          },
        );
      };
      const seen = [];
      const attempt = (name, f) => {
        try {
          f();
          seen.push(name + ' returned');
        } catch {
          seen.push(name);
        }
      };
      attempt('op', () => Op.create(hostile, true).reduceLocal(Float64Array.of(1), Float64Array.of(2)));
      comm.setErrhandler(ErrorHandler.create(hostile));
      attempt('handler', () => comm.send(Float64Array.of(1), 99));
      comm.setErrhandler(ERRORS_RETURN);
      const key = createKeyval({ copy: hostile, delete: hostile });
      comm.setAttr(key, 1);
      attempt('copy', () => comm.dup());
      attempt('delete', () => comm.deleteAttr(key));
      attempt('argument', () =>
        comm.send(new Proxy(new Float64Array(1), { get: hostile, getPrototypeOf: hostile }), 0),
      );
      attempt('value', () =>
        comm.bcastObject(
          {
            get x() {
              hostile();
            },
          },
          0,
        ),
      );
      attempt('option', () => comm.split({ valueOf: hostile, toString: hostile }));
      console.log(new Proxy({}, { get: hostile, getPrototypeOf: hostile, ownKeys: hostile }), 'printed');
      console.log(seen.join());
    `);
    expect(end.died).toBeUndefined();
    expect(end.stdout).toBe('[an object that cannot be shown] printed\nop,handler,copy,delete,argument,value,option\n');
    expect(end.exit).toEqual({ code: 0 });
  });

  it('by code that it leaves for later: none of it runs', async () => {
    const end = await runInThread(`
      (async () => {
        await 0;
        console.log('later');
      })();
      Promise.resolve().then(() => console.log('later'));
      Promise.reject(new Error('nobody looks'));
      import('node:fs').then(
        (fs) => console.log('later'),
        () => console.log('later'),
      );
      for (const name of ['queueMicrotask', 'setTimeout', 'setImmediate'])
        try {
          globalThis[name](() => console.log('later'), 0);
        } catch (e) {
          console.log(e.name);
        }
    `);
    expect(end).toEqual({ stdout: 'ReferenceError\n'.repeat(3), stderr: '', exit: { code: 0 } });
  });

  it('by using up the stack', async () => {
    const deep = await runInThread(
      'function f() { try { return f() + 1; } finally { try { f(); } catch {} throw { get message() { return ' +
        `f(); } }; } } Object.defineProperty(Error.prototype, 'x', { get: f })`,
    );
    expect(deep.exit?.abort?.message).toMatch(/^TypeError: Cannot define property x, object is not extensible/);
    const stack = await runInThread(
      `const f = () => { f(); }; try { f(); } catch (e) { Object.defineProperty(e, 'message', { get: f }); ` +
        `Object.defineProperty(e, 'stack', { get: f }); throw e; }`,
    );
    expect(stack.exit?.abort?.message).toBe('RangeError: an error that does not tell its message');
  });

  /**
   * Ways to make other code call the program's: each has to fail, and the rank's own code has to work as if nothing had
   * been.
   */
  it('by anything that leads from what it has to what it may not have', async () => {
    const end = await runInThread(`
      const seen = new Set(),
        found = new Map();
      const look = (root, from) => {
        const next = [[root, from]];
        while (next.length > 0) {
          const [o, path] = next.pop();
          if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) continue;
          seen.add(o);
          let names = [];
          try {
            const tag = Object.prototype.toString.call(o);
            if (
              /Shared|Atomics|WebAssembly|process|Port|Worker|Scope|Module|Process|EventTarget/.test(tag) &&
              !found.has(tag)
            )
              found.set(tag, path);
            next.push([Object.getPrototypeOf(o), path + '.__proto__']);
            names = ArrayBuffer.isView(o) ? [] : Reflect.ownKeys(o).slice(0, 5000);
          } catch (e) {
            next.push([e, path + ' throws']);
          }
          for (const name of names) {
            const d = Reflect.getOwnPropertyDescriptor(o, name);
            next.push(
              [d.value, path + '.' + String(name)],
              [d.get, path + '.get ' + String(name)],
              [d.set, path + '.set ' + String(name)],
            );
            if (d.get)
              try {
                next.push([o[name], path + '.' + String(name) + '()']);
              } catch (e) {
                next.push([e, path + '.' + String(name) + ' throws']);
              }
          }
          if (ArrayBuffer.isView(o)) next.push([o.buffer, path + '.buffer']);
          try {
            if (o instanceof Map || o instanceof Set) for (const x of o) next.push([x, path + '[]']);
          } catch {}
          // A door to code from texts, whatever its name.
          if (typeof o === 'function' && o !== look)
            try {
              if (Reflect.construct(o, ['return 7'])() === 7) found.set('a Function', path);
            } catch (e) {
              next.push([e, path + ' throws']);
            }
        }
      };
      const { COMM_WORLD: comm, Op, ErrorHandler, Win, datatype, SUM, MPIError } = __mayfly;
      const {
        console: { log },
      } = globalThis;
      comm.setErrhandler(__mayfly.ERRORS_RETURN);
      Object.getOwnPropertyNames(globalThis).forEach((name) => {
        if (name !== '__mayfly') look(globalThis[name], name);
      });
      look(new Error('x'), 'error');
      for (const f of [
        () => structuredClone(() => 0),
        () => new TextDecoder('?'),
        () => atob('*'),
        () => null.x,
        () => comm.send(1, 2, 3),
      ])
        try {
          f();
        } catch (e) {
          look(e, 'error of ' + f);
        }
      const op = Op.create((a, b) => {
        look(a, 'input of an operation');
        look(b, 'result of an operation');
        look(new Error(), 'error in an operation');
        b[0] += a[0];
      }, false);
      comm.isend(new Float64Array(3), 0, 5);
      const got = new Float64Array(3);
      comm.recv(got, 0, 5);
      look(got, 'received');
      comm.sendObject([1], 0);
      look(comm.recvObject(0), 'received array');
      look(comm.allreduce(1, op), 'result');
      op.reduceLocal(Float64Array.of(1), Float64Array.of(2));
      comm.sendObject({ a: new Uint8Array(3) }, 0);
      look(comm.recvObject(0), 'received object');
      log([...found].map(([tag, path]) => tag + ' at ' + path).join('\\n') || 'nothing', seen.size > 500);
    `);
    expect(end).toEqual({ stdout: 'nothing true\n', stderr: '', exit: { code: 0 } });
  });

  it('by what a formatted stack hands out, and stacks name no path of the machine', async () => {
    const end = await runInThread(`
      const sites = [];
      const format = (e, s) => { sites.push(...s); return 'x'; };
      for (const set of [
        () => { Error.prepareStackTrace = format; },
        () => { globalThis.Error = { prepareStackTrace: format }; },
        () => { Object.prototype.prepareStackTrace = format; },
      ]) try { set(); } catch {}
      const o = {};
      function named() { Error.captureStackTrace(o); return new Error('here').stack; }
      console.log(named(), o.stack, sites.length);
      try { __mayfly.COMM_WORLD.send(1, 2); } catch (e) { console.log(e.stack); }
    `);
    expect(end.stdout).not.toMatch(/\/|node:|\.cjs/);
    expect(end.stdout).toMatch(
      /^Error: here\n {4}at named \(mayfly-program\.js:10:\d+\)\n {4}at mayfly-program\.js:11:\d+ /,
    );
    expect(end.stdout).toContain(' 0\n');
  });

  it('by making Node load a module of its own, which would find the program there before', async () => {
    const end = await runInThread(
      `__mayfly.COMM_WORLD.setErrhandler(__mayfly.ERRORS_RETURN);
      const before = new Set(''.loadedModules());
      const attempt = (f) => {
        try {
          f();
        } catch (e) {
          try {
            String(e.stack);
            structuredClone(e);
          } catch {}
        }
      };
      for (const f of [
        () => structuredClone(() => 0),
        () => structuredClone(new Map([[1, new Error('x')]])),
        () => structuredClone(1, { transfer: [1] }),
        () => new TextDecoder('?'),
        () => new TextDecoder('latin1').decode(Uint8Array.of(200)),
        () => new TextDecoder('utf-16le', { fatal: true }).decode(Uint8Array.of(1)),
        () => new TextDecoder('shift_jis').decode(Uint8Array.of(1)),
        () => new TextEncoder().encodeInto(1, 2),
        () => new TextEncoder().encodeInto('é', new Uint8Array(1)),
        () => atob('*'),
        () => atob('YQ=='),
        () => btoa('\\u0100'),
        () => void import('node:fs'),
        () => void import('data:text/javascript,1'),
        () => console.log(new Error('y').stack.length > 0),
        () => Error.captureStackTrace({}),
        () => null.x,
        () => {
          const f = () => f();
          f();
        },
        () => 'x'.localeCompare('y'),
        () => new Date().toLocaleString(),
        () => new Proxy(TextDecoder, {}).prototype.decode.call({}),
        () => TextDecoder.prototype.encoding,
        () => Promise.reject(1),
        () => Promise.resolve().then(),
        () => __mayfly.COMM_WORLD.send(1, 1),
      ])
        attempt(f);
      console.log(
        ''
          .loadedModules()
          .filter((m) => !before.has(m))
          .join() || 'nothing',
      );`,
      { execArgv: ['--require', PROBE] },
    );
    expect(end).toEqual({ stdout: 'true\nnothing\n', stderr: '', exit: { code: 0 } });
  });
});
