/**
 * What to say of common slips: instead of "Cannot find name" about names that browsers or Node have and a rank has not,
 * and of plain arrays as buffers.
 */
const NO_TIMERS =
  'There are no timers: a rank blocks in its MPI calls and nothing runs beside it. Time is read with ' +
  '`wtime()` from "mayfly".';
const NO_NETWORK =
  'There is no network: ranks talk through MPI only. Input comes with the job: `files.read(path)` from "mayfly".';
const NO_PAGE =
  'There is no page: a rank runs in a worker. Print with `console.log`, write pictures and results with ' +
  '`files.write(path, bytes)` from "mayfly".';
const NO_STORE =
  'There is no local storage: results are written with `files.write`, state is kept with `checkpoint`, both ' +
  'from "mayfly".';
const NO_THREADS = 'There are no workers below a rank: start the job with more ranks instead.';
const NOT_THE_SAME =
  'depends on the garbage collector, so that a restarted rank could not repeat what the lost one did. It ' +
  'does not exist.';

export const NO_PLAIN_ARRAY =
  'A message buffer is a typed array, as in `Float64Array.of(1, 2)`. A plain array, or any other value, goes ' +
  'with the calls for objects, as `sendObject`.';

const ADVICE: Record<string, string> = {
  process:
    'There is no `process`: the arguments are `args`, the end is `exit(code)`, output is `console.log` or ' +
    '`print`, all from "mayfly".',
  Buffer:
    "Node's `Buffer` is not there: use Uint8Array and DataView. (The type of a message buffer is `Buffer` " +
    'from "mayfly".)',
  require: 'There is no `require`: use an `import` statement.',
  module: 'There is no `module`: use `export`.',
  exports: 'There is no `exports`: use `export`.',
  __dirname: 'There are no directories: input files are read with `files.read(path)` from "mayfly".',
  __filename: 'There are no directories: input files are read with `files.read(path)` from "mayfly".',
  setTimeout: NO_TIMERS,
  setInterval: NO_TIMERS,
  setImmediate: NO_TIMERS,
  clearTimeout: NO_TIMERS,
  clearInterval: NO_TIMERS,
  requestAnimationFrame: NO_TIMERS,
  queueMicrotask: NO_TIMERS,
  requestIdleCallback: NO_TIMERS,
  fetch: NO_NETWORK,
  XMLHttpRequest: NO_NETWORK,
  WebSocket: NO_NETWORK,
  EventSource: NO_NETWORK,
  RTCPeerConnection: NO_NETWORK,
  navigator: NO_PAGE,
  location: NO_PAGE,
  document: NO_PAGE,
  window: NO_PAGE,
  self: NO_PAGE,
  alert: NO_PAGE,
  prompt: NO_PAGE,
  OffscreenCanvas: NO_PAGE,
  localStorage: NO_STORE,
  sessionStorage: NO_STORE,
  indexedDB: NO_STORE,
  caches: NO_STORE,
  Worker: NO_THREADS,
  SharedWorker: NO_THREADS,
  BroadcastChannel: NO_THREADS,
  MessageChannel: NO_THREADS,
  postMessage: NO_THREADS,
  importScripts: 'There is no `importScripts`: use an `import` statement.',
  WeakRef: `WeakRef ${NOT_THE_SAME}`,
  FinalizationRegistry: `FinalizationRegistry ${NOT_THE_SAME}`,
  WebAssembly: 'WebAssembly is not there in TypeScript programs.',
  Bun: 'There is no `Bun`: see "mayfly" for `args`, `files` and `exit`.',
  Deno: 'There is no `Deno`: see "mayfly" for `args`, `files` and `exit`.',
  MPI: 'Import it: `import * as MPI from "mayfly"`.',
};

/** TypeScript's "Cannot find name" family. */
const CANNOT_FIND = new Set([2304, 2503, 2552, 2580, 2581, 2582, 2583, 2584, 2591, 2592, 2593, 2867, 2868]);

/** Names that 'mayfly' exports and that are easily used without an import. */
export function adviceFor(code: number, name: string, exportsOfMayfly: readonly string[]): string | undefined {
  if (!CANNOT_FIND.has(code)) return undefined;
  if (Object.hasOwn(ADVICE, name)) return ADVICE[name];
  if (exportsOfMayfly.includes(name))
    return `Cannot find name '${name}'. Import it: \`import { ${name} } from "mayfly"\`.`;
  return undefined;
}
