/** The rank worker in a Node worker thread. */
import { writeSync } from 'node:fs';
import { Script } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import type { FromRank, RankInit, RankRun, RankToComm } from '../messages.ts';
import { disarm } from './disarm.ts';
import { runRank } from './host.ts';
import { PROGRAM_FILE } from './call-site.ts';

const now = Date.now.bind(Date);
// Taken before the program's world is scrubbed.
const kill = process.kill.bind(process);
const { pid } = process;
/** Scripts are a matter of permission: without it, this thread runs modules only, whatever it is handed. */
const scripts = process.argv.includes('--allow-typescript');
const tell = parentPort!.postMessage.bind(parentPort);
const faults = process.argv.includes('--faults');
// A planted fault kills this process.
if (!faults) disarm();

parentPort!.once('message', ({ memory, port }: RankInit) => {
  const p = port as unknown as import('node:worker_threads').MessagePort;
  const wake = (): void => p.postMessage({ type: 'wake' } satisfies RankToComm);
  p.once('message', (run: RankRun) => {
    if (typeof run.program === 'string' && !scripts)
      return tell({
        type: 'broken',
        why: 'this volunteer runs WebAssembly programs only, and was handed a script',
      } satisfies FromRank);
    runRank(memory, wake, run, {
      now,
      broken: (why) => tell({ type: 'broken', why } satisfies FromRank),
      ...(faults
        ? {
            fault: {
              die: () => void kill(pid, 'SIGKILL'),
              made: (task, calls) => void writeSync(2, `task ${task} of ${run.assignment.job} made ${calls} calls\n`),
            },
          }
        : {}),
      global: globalThis as unknown as Record<PropertyKey, unknown>,
      // Without what Node writes into the stack of an error that leaves a script.
      evaluate: (source) =>
        void new Script(source, { filename: PROGRAM_FILE }).runInThisContext({ displayErrors: false }),
    });
  });
});
