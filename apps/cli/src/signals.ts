/**
 * Ctrl-C and SIGTERM: the first asks politely, a later one leaves at once. One key press may arrive twice (from the
 * terminal's process group and forwarded by a parent), so what follows the first within a moment counts as the same.
 */
import { Exit } from './exit-codes.ts';

const SAME_MS = 400;

/** @returns how to stop listening */
export function onInterrupt(first: (signal: NodeJS.Signals, code: number) => void): () => void {
  let at: number | undefined;
  const handlers = (
    [
      ['SIGINT', Exit.INTERRUPTED],
      ['SIGTERM', Exit.TERMINATED],
    ] as const
  ).map(([signal, code]) => {
    const handler = (): void => {
      if (at === undefined) {
        at = Date.now();
        first(signal, code);
      } else if (Date.now() - at > SAME_MS) process.exit(code);
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}

/** Resolves at the first signal. */
export const interrupted = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => onInterrupt((signal) => resolve(signal)));
