/**
 * Takes away what Node's permission model leaves of `process` and its modules: signals to other processes of the user,
 * flags of the engine, priorities. For threads that run programs, which must not find them even when they get at
 * `process`. What the thread itself needs of them it takes first.
 */
import os from 'node:os';
import v8 from 'node:v8';

const OF_PROCESS = [
  'kill',
  '_kill',
  '_debugProcess',
  '_debugEnd',
  '_linkedBinding',
  'binding',
  'dlopen',
  'abort',
  'setuid',
  'setgid',
  'seteuid',
  'setegid',
  'setgroups',
  'initgroups',
  'umask',
  'chdir',
  'report',
];

function take(from: object, names: readonly string[]): void {
  for (const name of names) {
    if (!(name in from)) continue;
    const gone = (): never => {
      throw new Error(`${name} is not available in the process of a job`);
    };
    try {
      Object.defineProperty(from, name, { value: gone, writable: false, configurable: false });
    } catch {
      // Not this engine's to change; the permission model and the namespaces stand behind.
    }
  }
}

export function disarm(): void {
  take(process, OF_PROCESS);
  take(v8, ['setFlagsFromString', 'writeHeapSnapshot', 'setHeapSnapshotNearHeapLimit', 'takeCoverage', 'stopCoverage']);
  take(os, ['setPriority']);
}
