/**
 * One rank of the fabric in a worker thread: waits for jobs, runs a module over a LogDevice, answers with what the
 * world has seen.
 */
import { parentPort } from 'node:worker_threads';
import type { Device } from '@mayfly/mpi';
import { AT_END, WorldMode, type ExitReport } from '@mayfly/wire';
import { LogDevice } from '@mayfly/mpi/test-fabric';
import { createBinding } from '../../src/binding/index.ts';
import { runProcess, type Waits } from '../../src/host/index.ts';
import type { Answer, Job } from './job.ts';
import { createScratchBinding } from './scratch-binding.ts';

class Over extends Error {}

function run(job: Job): Answer {
  const log = new LogDevice(job.rank, job.size, job.inboxes, job.options);
  log.onWorld = (n, mode, body) => parentPort!.postMessage({ world: { task: job.rank, n, mode, body } });
  let waits: Waits | undefined;
  let lives = 0;
  const device: Device = {
    task: log.task,
    size: log.size,
    capacity: job.inboxes.length,
    universe: job.inboxes.length,
    ...(job.spawned ? { spawned: job.spawned } : {}),
    unexpectedBytes: log.unexpectedBytes,
    send: (...a) => log.send(...a),
    wait: (reason) => (waits?.interrupted() ? undefined : log.wait(reason)),
    rest: () => !(waits?.interrupted() ?? false),
    poll: (consume) => log.poll(consume),
    pull: (arrival, into) => log.pull(arrival, into),
    unexpected: (bytes) => log.unexpected(bytes),
    clock: () => log.clock(),
    place: (read) => log.place(read),
  };
  let seed = 12345 + job.rank;
  let calls = 0;
  let unwound = 0;
  let died: string | undefined;
  let exit: ExitReport | undefined;
  try {
    runProcess({
      module: job.module,
      createBinding: job.scratch ? createScratchBinding : createBinding,
      cycle: job.cycle === undefined ? undefined : { every: job.cycle, fresh: job.fresh },
      onWaits(w) {
        waits = w;
        lives++;
      },
      host: {
        device,
        args: job.args,
        inputs: Object.entries(job.files).map(([path, b]) => ({ path, bytes: b.length })),
        readInput: (path) => job.files[path]!,
        processorName: () => `node of rank ${job.rank}`,
        random: {
          fill: (into) =>
            into.forEach((_, i) => (into[i] = (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 16)),
        },
        memoryBytes: job.memoryBytes,
        fileBytes: 1 << 26,
        version: 'Mayfly test',
        imageDue: (waits) => !waits && job.unwind !== undefined && ++calls % job.unwind === 0,
        reentryDue: () => job.reenter,
        saveImage: () => void unwound++,
        sleep: () => 0,
        end(report) {
          exit = report;
          throw new Over();
        },
      },
    });
  } catch (e) {
    if (!(e instanceof Over)) died = e instanceof Error ? (e.stack ?? e.message) : String(e);
  }
  const text = (mode: number): string =>
    new TextDecoder().decode(Buffer.concat(log.log.outputs.filter((o) => o.mode === mode).map((o) => o.body)));
  return {
    exit,
    died,
    stdout: text(WorldMode.STDOUT),
    stderr: text(WorldMode.STDERR),
    written: log.log.outputs
      .filter((o) => o.mode === WorldMode.STDOUT || o.mode === WorldMode.STDERR)
      .map((o) => `${o.mode === WorldMode.STDOUT ? 'out' : 'err'} ${new TextDecoder().decode(o.body)}`),
    files: results(log.log.outputs),
    images: lives - 1 + unwound,
  };
}

/** What the server would have made of FILE and CUT messages. */
function results(outputs: readonly { mode: number; body: Uint8Array }[]): Record<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const { mode, body } of outputs) {
    if (mode !== WorldMode.FILE && mode !== WorldMode.CUT) continue;
    const v = new DataView(body.buffer, body.byteOffset, body.byteLength);
    const n = v.getUint16(0, true);
    const path = new TextDecoder().decode(body.subarray(2, 2 + n));
    const old = files.get(path) ?? new Uint8Array(0);
    const place = v.getUint32(2 + n, true) + v.getUint32(6 + n, true) * 4294967296;
    const at = place === AT_END ? old.length : place;
    if (mode === WorldMode.CUT && at === Number.MAX_SAFE_INTEGER) files.delete(path);
    else if (mode === WorldMode.CUT) {
      const cut = new Uint8Array(at);
      cut.set(old.subarray(0, at));
      files.set(path, cut);
    } else {
      const bytes = body.subarray(10 + n);
      const all = new Uint8Array(Math.max(old.length, at + bytes.length));
      all.set(old);
      all.set(bytes, at);
      files.set(path, all);
    }
  }
  return Object.fromEntries(files);
}

parentPort!.on('message', (job: Job) => parentPort!.postMessage(run(job)));
