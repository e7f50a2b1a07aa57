/** A Web Worker as {@link WorkerLike}. */
import type { WorkerLike } from './thread-ports.ts';

export function webWorker<Out, In>(url: string | URL, name: string): WorkerLike<Out, In> {
  const worker = new Worker(url, { name });
  return {
    post: (m, transfer) => worker.postMessage(m, (transfer ?? []) as Transferable[]),
    onMessage: (handler) => worker.addEventListener('message', (e: MessageEvent<In>) => handler(e.data)),
    onDeath(handler) {
      worker.addEventListener('error', (e) => handler(e.message || 'the worker failed to start'));
      worker.addEventListener('messageerror', () => handler('a message that could not be read'));
    },
    terminate: () => worker.terminate(),
  };
}
