/** A worker thread of Node as {@link WorkerLike}. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { WorkerLike } from './thread-ports.ts';

/**
 * Without the source line that Node puts before the stack of an uncaught error. What a thread threw need not be an
 * error.
 */
const describe = (e: unknown): string => {
  if (!(e instanceof Error)) return 'a value that is not an Error was thrown';
  return [
    `${e.name}: ${e.message}`,
    ...String(e.stack)
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 8),
  ].join('\n');
};

export function nodeWorker<Out, In>(path: string | URL, options: WorkerOptions): WorkerLike<Out, In> {
  const worker = new Worker(path, options);
  let dead = false;
  return {
    post: (m, transfer) => worker.postMessage(m, (transfer ?? []) as never),
    onMessage: (handler) => void worker.on('message', handler),
    onDeath(handler) {
      const die = (message: string): void => {
        if (!dead) handler(message);
        dead = true;
      };
      worker.on('error', (e) =>
        die((e as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out of memory' : describe(e)),
      );
      worker.on('messageerror', (e) => die(String(e)));
      worker.on('exit', (code) => die(`the thread ended with code ${code}`));
    },
    terminate() {
      dead = true;
      void worker.terminate();
    },
  };
}
