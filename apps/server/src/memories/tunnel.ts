/** A data link that reached this server goes on to the one that has its Channel Memory, message by message. */
import type { RawData, WebSocket } from 'ws';
import { CloseCode, type DataLink } from '../hosts/data-link.ts';

/** Bytes that may wait on either side before the other one is not read. */
const HIGH_BYTES = 8 << 20;
const LOW_BYTES = 2 << 20;
const LOOK_MS = 20;

/** @param first the message that has been read of the link. @param over one of them has closed */
export function tunnel(link: DataLink, first: Uint8Array, to: WebSocket, over: () => void): void {
  const early: Uint8Array[] = [first];
  let open = false;
  let closed = false;
  const send = (bytes: Uint8Array): void => {
    to.send(bytes, { binary: true, compress: false });
    if (to.bufferedAmount > HIGH_BYTES) {
      link.pause();
      const look = setInterval(() => {
        if (!closed && to.bufferedAmount > LOW_BYTES) return;
        clearInterval(look);
        if (!closed) link.resume();
      }, LOOK_MS);
    }
  };
  const end = (code: number, reason: string): void => {
    if (closed) return;
    closed = true;
    over();
    link.close(code, reason);
    to.close();
    // One that stands still answers no close.
    setTimeout(() => to.terminate(), 1000).unref();
  };
  link.onMessage = (bytes) => (open ? send(bytes) : void early.push(bytes));
  link.onDrain = () => {
    if (to.isPaused && link.buffered <= LOW_BYTES) to.resume();
  };
  link.onClose = () => end(CloseCode.GOING_AWAY, '');
  to.on('open', () => {
    open = true;
    for (const bytes of early.splice(0)) send(bytes);
  });
  to.on('message', (data: RawData) => {
    const bytes = data as Buffer;
    link.send(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (link.buffered > HIGH_BYTES) to.pause();
  });
  to.on('error', () => end(CloseCode.BROKEN, 'the server of the Channel Memory cannot be reached'));
  to.on('close', (code: number, reason: Buffer) => {
    const known = code >= 4000 || code === CloseCode.GOING_AWAY;
    end(known ? code : CloseCode.BROKEN, reason.toString() || 'the Channel Memory moves');
  });
}
