/** The comm worker in a Node worker thread. */
import { randomUUID } from 'node:crypto';
import { MessageChannel, parentPort } from 'node:worker_threads';
import WebSocket from 'ws';
import type { CommToFrame, FrameToComm } from '../messages.ts';
import { channelOf, type PortLike } from '../ports.ts';
import type { SocketLike } from './data-link.ts';
import { waitAsync } from '../ring.ts';
import { CommHost } from './host.ts';
import type { CommSeams } from './seams.ts';

// Masking defends proxies against hostile scripts in browsers; here it would cost a copy of every frame. `ws` skips a mask of zeros.
const noMask = (mask: Buffer): void => void mask.fill(0);

const seams: CommSeams = {
  openSocket: (url) => new WebSocket(url, { perMessageDeflate: false, generateMask: noMask, maxPayload: 64 * 1024 * 1024, skipUTF8Validation: true }) as unknown as SocketLike,
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
  async get(url) {
    const r = await fetch(url);
    return { status: r.status, bytes: new Uint8Array(await r.arrayBuffer()) };
  },
  place: `Node ${process.versions.node.split('.').slice(0, 2).join('.')}`,
  waitAsync,
};

let host: CommHost | undefined;
parentPort!.on('message', (m: FrameToComm) => {
  if (m.type === 'init') host = new CommHost(m.server, seams, channelOf(m.daemon), (out: CommToFrame, transfer) => parentPort!.postMessage(out, (transfer ?? []) as never));
  else host?.fromFrame(m);
});
