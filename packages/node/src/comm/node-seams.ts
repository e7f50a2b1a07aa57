/** What the comm host needs of Node, in a worker thread of the volunteer or in the process of a job. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import type { PortLike } from '../thread-ports.ts';
import { waitAsync } from '../ring/index.ts';
import type { CommSeams } from './seams.ts';

// Masking defends proxies against hostile scripts in browsers; here it would cost a copy of every frame. `ws` skips a
// mask of zeros.
const noMask = (mask: Buffer): void => void mask.fill(0);

/** Of `ws`. */
export const socketOptions = {
  perMessageDeflate: false,
  generateMask: noMask,
  maxPayload: 64 * 1024 * 1024,
  skipUTF8Validation: true,
};

export const nodeSeams = (network: Pick<CommSeams, 'openSocket' | 'openPolling' | 'get'>): CommSeams => ({
  ...network,
  soon: (run) => void setImmediate(run),
  after(ms, run) {
    const t = setTimeout(run, ms);
    return () => clearTimeout(t);
  },
  now: () => performance.now(),
  random: Math.random,
  nonce: () => randomUUID(),
  channel() {
    const c = new MessageChannel();
    return { mine: c.port1 as unknown as PortLike, theirs: c.port2 as unknown as PortLike };
  },
  cores: availableParallelism(),
  place: `Node ${process.versions.node.split('.').slice(0, 2).join('.')}`,
  waitAsync,
});
