/** The comm worker in a browser's sandboxed frame. */
import type { CommToFrame, FrameToComm } from '../messages.ts';
import { channelOf } from '../thread-ports.ts';
import { pollingSocket, type SocketLike } from './data-link.ts';
import { waitAsync } from '../ring/index.ts';
import { CommHost } from './host.ts';
import type { CommSeams } from './seams.ts';
import { browserName } from '../browser-name.ts';

// A macrotask without the four milliseconds that nested timers cost.
const turns = new MessageChannel();
const pending: (() => void)[] = [];
turns.port1.onmessage = () => pending.shift()?.();

const seams: CommSeams = {
  openSocket: (url) => new WebSocket(url) as unknown as SocketLike,
  openPolling: (url) => pollingSocket(url),
  soon(run) {
    pending.push(run);
    turns.port2.postMessage(0);
  },
  after(ms, run) {
    const t = setTimeout(run, ms);
    return () => clearTimeout(t);
  },
  now: () => performance.now(),
  random: Math.random,
  // Not randomUUID: the frame's opaque origin is no secure context.
  nonce: () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join(''),
  channel() {
    const c = new MessageChannel();
    return { mine: c.port1 as never, theirs: c.port2 as never };
  },
  async get(url) {
    const r = await fetch(url, { credentials: 'omit' });
    return { status: r.status, bytes: new Uint8Array(await r.arrayBuffer()) };
  },
  cores: navigator.hardwareConcurrency,
  place: browserName(navigator.userAgent),
  waitAsync,
};

let host: CommHost | undefined;
addEventListener('message', (e: MessageEvent<FrameToComm>) => {
  const m = e.data;
  if (m.type === 'init')
    host = new CommHost(m.server, seams, channelOf(m.daemon), (out: CommToFrame, transfer) =>
      postMessage(out, (transfer ?? []) as Transferable[]),
    );
  else host?.fromFrame(m);
});
