/** Parity groups on the control connection: what comes for them, and how a part leaves for another node. */
import type { ParityPart } from '@mayfly/wire';
import type { ControlSocket } from './connection.ts';
import type { Parity } from './parity.ts';

/** For another node to take a part of a change. */
const PART_MS = 10_000;

export function serveParity(socket: ControlSocket, parity: Parity): void {
  socket.on('parityOrder', (o) => parity.order(o));
  socket.on('parity', (p, pages, ack) => ack(parity.part(p, pages && new Uint8Array(pages))));
  socket.on('parityHave', ({ group }, ack) => ack(parity.have(group)));
  socket.on(
    'parityRead',
    (m, ack) =>
      void parity.read(m).then(ack, () => {
        ack(undefined);
      }),
  );
  socket.on('disconnect', () => parity.disconnected());
}

/** To a node of the same group, through the server. @returns whether it arrived */
export const sendPart = (
  socket: ControlSocket | undefined,
  part: ParityPart,
  pages: Uint8Array | undefined,
): Promise<boolean> =>
  socket?.connected
    ? socket
        .timeout(PART_MS)
        .emitWithAck('parity', part, pages)
        .catch(() => false)
    : Promise.resolve(false);
