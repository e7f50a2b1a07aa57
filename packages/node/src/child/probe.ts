/**
 * What a program could do that has taken over the thread it runs in: tries it, in a thread with the limits of a rank's,
 * with all of Node in its hands. For `mayfly volunteer --check` and the tests. Nothing is harmed: the file, the address
 * and the process are ones that the volunteer made for it.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { disarm } from '../rank/disarm.ts';
import type { Attempt, Attempts, Targets } from '../sandbox/attempts.ts';

const { secretFile, newFile, volunteer, port, environment, disarmed, program } = workerData as Targets & {
  disarmed: boolean;
};
if (disarmed) disarm();

/** Node 25 denies some of it later, outside of the call. */
let denied: (e: Error) => void = () => undefined;
process.on('uncaughtException', (e) => denied(e));

const settled = (emitter: NodeJS.EventEmitter, event: string): Promise<void> =>
  new Promise((resolve, reject) => {
    emitter.once(event, () => resolve());
    emitter.once('error', reject);
    denied = reject;
    setTimeout(() => reject(new Error('nothing came of it')), 3000).unref();
  });

/** Each throws when it is denied. */
const TRIES: Record<Attempt, () => unknown> = {
  'read a file': () => fs.readFileSync(secretFile),
  'write a file': () => fs.writeFileSync(newFile, 'written'),
  'start a program': () => {
    const r = spawnSync(program, ['--version']);
    if (r.error) throw r.error;
  },
  'start a thread without limits': () => new Worker('', { eval: true, execArgv: [] }),
  'load an addon': () => {
    try {
      process.dlopen({ exports: {} }, newFile);
    } catch (e) {
      // Whether there is such a file was looked at only after the permission.
      if ((e as NodeJS.ErrnoException).code !== 'ERR_DLOPEN_FAILED') throw e;
    }
  },
  "get Node's internals": () => (process as unknown as { binding(name: string): unknown }).binding('fs'),
  'open the inspector': () => (process.getBuiltinModule('node:inspector') as typeof import('node:inspector')).open(0),
  'open a database file': () => {
    type Sqlite = { DatabaseSync: new (path: string) => { exec(sql: string): void } };
    const sqlite = (process.getBuiltinModule as (name: string) => unknown)('node:sqlite') as Sqlite | undefined;
    if (!sqlite) throw new Error('this Node has none');
    new sqlite.DatabaseSync(newFile).exec('create table t (a)');
  },
  'use WASI': () => {
    const { WASI } = process.getBuiltinModule('node:wasi') as typeof import('node:wasi');
    new WASI({ version: 'preview1', preopens: { '/': '/' } });
  },
  'signal the volunteer': () => process.kill(volunteer, 0),
  'see other processes': () => fs.readFileSync(`/proc/${volunteer}/status`),
  'connect to another address': () => settled(net.connect(port, '127.0.0.1'), 'connect'),
  'listen for connections': () => settled(net.createServer().listen(0, '127.0.0.1'), 'listening'),
  "see the volunteer's environment": () => {
    if (environment.length === 0) throw new Error('it is empty');
  },
};

const results: Partial<Attempts> = {};
for (const [name, attempt] of Object.entries(TRIES) as [Attempt, () => unknown][])
  try {
    await attempt();
    results[name] = null;
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    results[name] = (code ?? message).slice(0, 200) || 'denied';
  }
parentPort!.postMessage(results);
