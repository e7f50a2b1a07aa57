/** The daemon's worker. Its script may not arrive while the server restarts: it is asked for until it does. */
import { READY } from '../daemon/ready.ts';

const AGAIN_MS = 1000;

/**
 * Resolves once the script of the worker runs.
 * @throws the signal's reason when it is aborted before
 */
export async function loadWorker(make: () => Worker, signal: AbortSignal): Promise<Worker> {
  for (;;) {
    const worker = make();
    if (await runs(worker, signal)) return worker;
    worker.terminate();
    signal.throwIfAborted();
    await new Promise((again) => setTimeout(again, AGAIN_MS));
    signal.throwIfAborted();
  }
}

function runs(worker: Worker, signal: AbortSignal): Promise<boolean> {
  const heard = new AbortController();
  return new Promise<boolean>((resolve) => {
    const options = { signal: heard.signal };
    worker.addEventListener('message', ({ data }) => data === READY && resolve(true), options);
    worker.addEventListener('error', () => resolve(false), options);
    signal.addEventListener('abort', () => resolve(false), options);
  }).finally(() => heard.abort());
}
