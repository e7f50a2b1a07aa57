/**
 * The deterministic world of a program: what stays of the global object, what is replaced, and what reports that it
 * does not exist.
 *
 * Allowed is what ECMAScript defines and what is a function of its arguments; everything else of the engine's global
 * object and of its prototypes goes, by name of the allowed, not of the forbidden: what a new engine adds is gone too.
 * The host's own code keeps what it needs in constants captured before (the bundle's banner). What stays is closed
 * (harden.ts).
 */
import { createDate } from './date.ts';
import { harden } from './harden.ts';
import { PROGRAM_FILE } from './call-site.ts';
import type { Random } from './random.ts';

/** Deterministic parts of ECMAScript 2023 (and what a later engine polyfills into them stays as it is). */
const ALLOWED = new Set(
  `globalThis Infinity NaN undefined isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape unescape AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean
  DataView Error EvalError Float32Array Float64Array Float16Array Function Int8Array Int16Array Int32Array
  Iterator Map Number Object Promise Proxy RangeError ReferenceError RegExp Set String Symbol SyntaxError
  TypeError Uint8Array Uint8ClampedArray Uint16Array Uint32Array URIError WeakMap WeakSet JSON Reflect TextEncoder
  TextDecoder structuredClone atob btoa`.split(/\s+/),
);

const WHY: readonly (readonly [names: string, why: string])[] = [
  [
    'setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate requestAnimationFrame ' +
      'cancelAnimationFrame queueMicrotask',
    'timers do not exist in an MPI program, which runs from its first line to its last without an event ' +
      'loop; wait for messages instead (wait, test, probe)',
  ],
  [
    'fetch XMLHttpRequest WebSocket WebSocketStream EventSource WebTransport RTCPeerConnection Request ' +
      'Response Headers',
    'the network does not exist in an MPI program; send messages (comm.send) or submit input files with the ' +
      'job (files.read)',
  ],
  [
    'Worker SharedWorker BroadcastChannel MessageChannel MessagePort postMessage',
    'workers and their channels do not exist in an MPI program; the other ranks are its workers',
  ],
  ['importScripts require', 'code is loaded when the program is bundled; import it at the top of a source file'],
  [
    'indexedDB caches localStorage sessionStorage cookieStore',
    'storage does not exist in an MPI program; write result files (files.write) or take checkpoints (checkpoint.here)',
  ],
  ['SharedArrayBuffer Atomics', 'ranks share no memory; send messages instead'],
  ['WebAssembly', 'WebAssembly is not available to TypeScript programs'],
  [
    'WeakRef FinalizationRegistry',
    'what a garbage collector does differs between runs, so it may not be observed in an MPI program',
  ],
  ['Intl', 'locale data differs between engines; numbers and dates print in a fixed en-US form'],
  ['navigator location process Buffer', 'a program cannot see its machine; processorName() tells where it runs'],
  ['document window', 'an MPI program has no page'],
  ['eval', 'code from strings is not available in an MPI program'],
  ['close addEventListener removeEventListener dispatchEvent onmessage', 'an MPI program has no event loop'],
];

export interface World {
  /** The engine's global object. */
  global: Record<PropertyKey, unknown>;
  random: Random;
  /** The job's clock, ms. */
  clock: () => number;
  /** Mayfly's Math, with its random from the job's seed; made before the engine's WebAssembly goes. */
  math: Math;
  /** The runtime's console. */
  console: unknown;
  /** What `import 'mayfly'` reads. */
  mayfly: unknown;
  /** performance.now() counts from this reading of the clock. */
  origin: () => number;
}

const hide = (o: object, name: PropertyKey, value: unknown): void =>
  void Object.defineProperty(o, name, { value, writable: true, configurable: true, enumerable: false });

/** `performance` of a program. The origin is read first: a clock that ticks in between would make the time negative. */
export const performanceOf = ({ clock, origin }: Pick<World, 'clock' | 'origin'>): { readonly now: () => number } =>
  Object.freeze({
    now: () => {
      const from = origin();
      return clock() - from;
    },
  });

/** A name that throws an explanation as soon as it is used. */
function absent(name: string, why: string): unknown {
  const say = (): never => {
    throw new ReferenceError(`${name} is not available: ${why}.`);
  };
  const target = function (): void {
    // Callable and constructible, so that both are answered by the reason.
  };
  return new Proxy(target, {
    apply: say,
    construct: say,
    get: say,
    set: say,
    has: say,
    deleteProperty: say,
    defineProperty: say,
    ownKeys: say,
    getPrototypeOf: say,
  });
}

/**
 * Removes everything that is not deterministic from the global object and installs what takes its place. Cannot be
 * undone.
 */
export function installWorld(w: World): void {
  const { global } = w;
  // Prototypes of a worker's global object carry fetch, timers and the like; own properties come last.
  const chain: object[] = [];
  const inherited = [...ALLOWED].flatMap((name): [string, unknown][] =>
    name in global && !Object.hasOwn(global, name) ? [[name, global[name]]] : [],
  );
  for (let o: object | null = global; o && o !== Object.prototype; o = Object.getPrototypeOf(o) as object | null)
    chain.push(o);
  for (const o of chain)
    for (const name of Reflect.ownKeys(o)) {
      if (typeof name === 'string' && ALLOWED.has(name) && o === global) continue;
      if (!Reflect.deleteProperty(o, name)) {
        const d = Reflect.getOwnPropertyDescriptor(o, name);
        if (d?.writable) Reflect.set(o, name, undefined);
      }
    }
  // Nothing of EventTarget and WorkerGlobalScope is left to be found through the chain.
  try {
    Object.setPrototypeOf(global, Object.prototype);
  } catch {
    // An immutable prototype, emptied above.
  }

  for (const [name, value] of inherited) hide(global, name, value);
  for (const [names, why] of WHY) for (const name of names.split(' ')) hide(global, name, absent(name, why));
  hide(global, 'self', global);

  hide(global, 'Math', w.math);
  hide(global, 'Date', createDate(Date, w.clock));
  hide(global, 'performance', performanceOf(w));
  hide(global, 'crypto', Object.freeze({ getRandomValues: fillRandom(w.random) }));
  hide(global, 'console', w.console);
  hide(global, '__mayfly', w.mayfly);
  fixLocale();
  // `constructor` of any function is a door to eval; a content security policy closes it in browsers, this does
  // everywhere.
  for (const f of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const own = Object.getPrototypeOf(f) as { constructor: unknown };
    const closed = absentConstructor(own.constructor as { prototype: object });
    Object.defineProperty(own, 'constructor', { value: closed, writable: false, configurable: false });
    if (own === Function.prototype) hide(global, 'Function', closed);
  }
  ownStacks();
  harden(global, [...ALLOWED, 'Math', 'Date', 'performance', 'crypto', 'console', 'self', '__mayfly']);
}

const MOST_FRAMES = 64;

/** A place in a stack, as V8 hands it to `Error.prepareStackTrace`. */
interface CallSite {
  getScriptNameOrSourceURL?(): unknown;
}

/**
 * Where an engine lets stacks be formatted (V8): those that a program reads hold its own frames alone. The others would
 * name paths of the volunteer's machine, and differ between machines. A program that formatted stacks itself would be
 * handed functions of ours.
 */
function ownStacks(): void {
  // Many of the innermost may be ours.
  (Error as unknown as { stackTraceLimit?: number }).stackTraceLimit = MOST_FRAMES;
  if (!('captureStackTrace' in Error)) return;
  const header = (error: unknown): string => {
    try {
      return Error.prototype.toString.call(error);
    } catch {
      return '<error>';
    }
  };
  const text = String;
  const prepareStackTrace = (error: unknown, sites: readonly CallSite[]): string => {
    let stack = header(error);
    for (let i = 0; i < sites.length; i++)
      if (sites[i]!.getScriptNameOrSourceURL?.() === PROGRAM_FILE) stack += `\n    at ${text(sites[i])}`;
    return stack;
  };
  Object.defineProperty(Error, 'prepareStackTrace', {
    value: prepareStackTrace,
    writable: false,
    configurable: false,
    enumerable: false,
  });
}

function absentConstructor(original: { prototype: object }): unknown {
  const f = function Function_(): never {
    throw new EvalError('code from strings is not available in an MPI program');
  };
  Object.defineProperty(f, 'prototype', { value: original.prototype, writable: false });
  Object.defineProperty(f, 'name', { value: 'Function' });
  return f;
}

function fillRandom(random: Random): (array: ArrayBufferView) => ArrayBufferView {
  return function getRandomValues(array) {
    if (
      !ArrayBuffer.isView(array) ||
      array instanceof DataView ||
      array instanceof Float32Array ||
      array instanceof Float64Array
    )
      throw new TypeError('getRandomValues takes an array of integers');
    if (array.byteLength > 65536) throw new RangeError('getRandomValues takes at most 65536 bytes');
    random.fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return array;
  };
}

/** Whatever consults locale data: a fixed en-US form, the same in every engine. */
function fixLocale(): void {
  const grouped = (s: string): string => s.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  hide(Number.prototype, 'toLocaleString', function toLocaleString(this: number): string {
    const n = Number(this);
    if (!Number.isFinite(n)) return Number.isNaN(n) ? 'NaN' : n < 0 ? '-∞' : '∞';
    const [whole, fraction] = Math.abs(n).toFixed(3).split('.') as [string, string];
    const rest = fraction.replace(/0+$/, '');
    const shown = grouped(whole) + (rest ? `.${rest}` : '');
    return n < 0 && shown !== '0' ? `-${shown}` : shown;
  });
  hide(BigInt.prototype, 'toLocaleString', function toLocaleString(this: bigint): string {
    return grouped(String(this));
  });
  // Code unit order: simple, and the same everywhere.
  hide(String.prototype, 'localeCompare', function localeCompare(this: string, other: unknown): number {
    const a = String(this);
    const b = String(other);
    return a < b ? -1 : a > b ? 1 : 0;
  });
  hide(String.prototype, 'toLocaleUpperCase', String.prototype.toUpperCase);
  hide(String.prototype, 'toLocaleLowerCase', String.prototype.toLowerCase);
}
