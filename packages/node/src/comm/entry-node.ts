/** The comm worker in a Node worker thread. */
import { parentPort } from 'node:worker_threads';
import WebSocket from 'ws';
import type { CommToFrame, FrameToComm } from '../messages.ts';
import { channelOf } from '../thread-ports.ts';
import { pollingSocket, type SocketLike } from './data-link.ts';
import { CommHost } from './host.ts';
import { nodeSeams, socketOptions } from './node-seams.ts';

const seams = nodeSeams({
  openSocket: (url) => new WebSocket(url, socketOptions) as unknown as SocketLike,
  openPolling: (url) => pollingSocket(url, { rejectUnauthorized: process.env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0' }),
  async get(url) {
    const r = await fetch(url);
    return { status: r.status, bytes: new Uint8Array(await r.arrayBuffer()) };
  },
});

let host: CommHost | undefined;
parentPort!.on('message', (m: FrameToComm) => {
  if (m.type === 'init')
    host = new CommHost(m.server, seams, channelOf(m.daemon), (out: CommToFrame, transfer) =>
      parentPort!.postMessage(out, (transfer ?? []) as never),
    );
  else host?.fromFrame(m);
});
