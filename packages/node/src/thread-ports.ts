/** The seams between our threads and their host: what Web Workers and Node's worker threads have in common. */

export interface PortLike {
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
  close(): void;
}

/** Typed use of one end of a port or worker. */
export interface Channel<Out, In> {
  post(message: Out, transfer?: readonly unknown[]): void;
  /** One handler. Messages that came earlier are kept for it. */
  onMessage(handler: (message: In) => void): void;
  /** The other end is gone (where the engine reports that). */
  onClose(handler: () => void): void;
  close(): void;
}

/** A worker that this thread made. */
export interface WorkerLike<Out, In> {
  post(message: Out, transfer?: readonly unknown[]): void;
  onMessage(handler: (message: In) => void): void;
  /** It threw outside any handler, ran out of memory, or ended by itself. */
  onDeath(handler: (message: string) => void): void;
  terminate(): void;
}

interface EventPort extends PortLike {
  addEventListener(type: string, handler: (event: { data?: unknown }) => void): void;
  start(): void;
}

/** Both engines' MessagePort are event targets. */
export function channelOf<Out, In>(port: PortLike): Channel<Out, In> {
  const p = port as EventPort;
  return {
    post: (m, transfer) => p.postMessage(m, transfer ?? []),
    onMessage(handler) {
      p.addEventListener('message', (e) => handler(e.data as In));
      p.start();
    },
    onClose: (handler) => p.addEventListener('close', () => handler()),
    close: () => p.close(),
  };
}
