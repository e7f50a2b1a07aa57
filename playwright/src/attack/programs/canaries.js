/**
 * What a program does once it holds something that it may not have. Each leaves a trace that the harness looks for; a
 * line that begins with ESCAPED is one, too.
 */
import { args } from 'mayfly';

export const [listener, secretFile, marker, server, otherJob] = args;

export const attempt = (f) => {
  try {
    return f();
  } catch {
    return undefined;
  }
};

/** Node's process object, or what looks like it. */
export function withProcess(p) {
  const fs =
    attempt(() => p.getBuiltinModule('node:fs')) ??
    attempt(() => p.mainModule.require('fs')) ??
    attempt(() => p.binding('fs'));
  attempt(() => fs.writeFileSync(marker, 'written'));
  attempt(() => console.log('ESCAPED', fs.readFileSync(secretFile, 'utf8')));
  attempt(() => console.log(p.env.MAYFLY_CANARY));
  attempt(() => p.getBuiltinModule('node:child_process').execSync(`echo run > ${marker}`));
  attempt(() => p.getBuiltinModule('node:http').get(listener));
  attempt(() => p.kill(p.pid, 'SIGKILL'));
}

/** A global object that still has what a program's has not. */
export function withGlobal(g) {
  attempt(() => withProcess(g.process));
  for (const name of ['fetch', 'importScripts']) attempt(() => g[name](listener));
  for (const name of ['WebSocket', 'EventSource', 'Worker', 'SharedWorker', 'WebTransport'])
    attempt(() => new g[name](listener));
  attempt(() => g.navigator.sendBeacon(listener));
}

/** A function that may make code of a text. */
export function withFunction(f, from) {
  const made = attempt(() => f('return this')) ?? attempt(() => new f('return this'));
  const global = typeof made === 'function' ? attempt(() => made()) : undefined;
  if (global) {
    console.log('ESCAPED: code from a text, by', from);
    withGlobal(global);
  }
}

/** Whatever a trap, setter or handler has caught. */
export function caught(value, from) {
  if (looking || value === null || (typeof value !== 'object' && typeof value !== 'function')) return;
  // Looking at what a trap has caught springs traps.
  looking = true;
  try {
    lookAt(value, from);
  } finally {
    looking = false;
  }
}

let looking = false;

function lookAt(value, from) {
  withProcess(value);
  withGlobal(value);
  // Node's queryObjects gives every object of the heap.
  const all = attempt(() => value(Object.prototype));
  if (Array.isArray(all)) for (const o of all) attempt(() => withProcess(o));
  const tag = attempt(() => Object.prototype.toString.call(value));
  if (/Shared|MessagePort|Worker|process|WebAssembly|Atomics/.test(tag ?? '')) console.log('ESCAPED:', tag, 'by', from);
}

/** An error that is hostile in every way. */
export function hostileError(then = () => undefined) {
  const e = new Error('hostile');
  for (const name of [
    'stack',
    'message',
    'name',
    'toString',
    'toJSON',
    'code',
    'cause',
    'constructor',
    Symbol.toPrimitive,
    Symbol.toStringTag,
  ])
    Object.defineProperty(e, name, {
      get() {
        then(this, name);
        throw e;
      },
    });
  return e;
}
