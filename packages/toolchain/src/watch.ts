/**
 * Inside the compile process: a thread that ends the process, with its children, when a request has used up its
 * processor time or memory. A thread, since the tools never yield; in here, since what a process uses is known to
 * itself on every platform. Of children (esbuild) only Linux tells.
 */
import { Worker } from 'node:worker_threads';

export interface Watch {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const EVERY_MS = 100;

/**
 * Plain JavaScript: the bundle of the process is one file, and this runs beside it. state[0]: the number of the request
 * that runs, 0: none.
 */
const WATCHER = `
const { workerData } = require('node:worker_threads');
const { readFileSync, writeSync } = require('node:fs');
const state = new Int32Array(workerData, 0, 1);
const limits = new Float64Array(workerData, 8, 2);
const children = () => {
  let [ms, bytes] = [0, 0];
  try {
    for (const pid of readFileSync('/proc/' + process.pid + '/task/' + process.pid + '/children', 'latin1').split(' ')) {
      if (pid === '') continue;
      const fields = readFileSync('/proc/' + pid + '/stat', 'latin1').replace(/^.*\\)/s, '').split(' ');
      ms += (Number(fields[12]) + Number(fields[13])) * 10;
      bytes += Number(fields[22]) * 4096;
    }
  } catch {}
  return { ms, bytes };
};
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 + children().ms; };
const end = (what) => {
  writeSync(2, '\\nmayfly-compile-limit: ' + what + '\\n');
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
};
for (;;) {
  Atomics.wait(state, 0, 0);
  const run = Atomics.load(state, 0);
  const from = cpu();
  while (Atomics.load(state, 0) === run && run !== 0) {
    if (cpu() - from > limits[0]) end('cpu');
    if (process.memoryUsage.rss() + children().bytes > limits[1]) end('memory');
    Atomics.wait(state, 0, run, ${EVERY_MS});
  }
}
`;

/** Begins to watch; call the result when the request is over. */
export type Watcher = (watch: Watch) => () => void;

export function startWatcher(): Watcher {
  const shared = new SharedArrayBuffer(24);
  const state = new Int32Array(shared, 0, 1);
  const limits = new Float64Array(shared, 8, 2);
  new Worker(WATCHER, {
    eval: true,
    workerData: shared,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
  }).unref();
  let runs = 0;
  const set = (value: number): void => {
    Atomics.store(state, 0, value);
    Atomics.notify(state, 0);
  };
  return (watch) => {
    limits[0] = watch.cpuMs;
    limits[1] = watch.rssBytes;
    set((runs = (runs % 1_000_000) + 1));
    return () => set(0);
  };
}
