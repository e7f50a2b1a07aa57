/** What the comm host needs from its engine. */
import type { PortLike } from '../thread-ports.ts';
import type { WaitAsync } from '../ring/index.ts';
import type { OpenSocket } from './data-link.ts';

export interface CommSeams {
  openSocket: OpenSocket;
  /** The same frames by long polling. */
  openPolling: OpenSocket;
  /** Runs in a later task, after sockets had their turn. */
  soon(run: () => void): void;
  after(ms: number, run: () => void): () => void;
  /** ms, from anywhere, never back. */
  now(): number;
  random(): number;
  /** At least 128 random bits as text. */
  nonce(): string;
  /** A pair of ports for a rank. */
  channel(): { mine: PortLike; theirs: PortLike };
  /** GET without credentials. */
  get(url: string): Promise<{ status: number; bytes: Uint8Array }>;
  /** Processor cores of this machine. */
  cores: number;
  /** What this engine is called, e.g. 'Chromium 156'. */
  place: string;
  waitAsync: WaitAsync | undefined;
}
