/**
 * What one server says to another before a connection of a client goes on between them: TLS with the secret of the
 * database as pre-shared key (RFC 4279, with the forward secrecy of RFC 5489), then a line with the address of the
 * client. Both sides prove that they read the database, neither sends the secret, and nobody between them reads along.
 */
import { createHash } from 'node:crypto';
import { isIP, type Socket } from 'node:net';
import { connect, TLSSocket, type TLSSocketOptions } from 'node:tls';

/** Before TLS. It cannot begin a request, nor TLS of a client. */
export const WORD = 'MAYFLY/2\n';
/** Node has pre-shared keys up to TLS 1.2. */
const LINK = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;
const LONGEST_LINE = 64;
const NEWLINE = 10;

const keyOf = (secret: string): Buffer => createHash('sha256').update(`mayfly servers ${secret}`).digest();

/** Of another server. @param address host:port, or [host]:port */
export function placeOf(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

/** @returns where the bytes of the client go; errors and the end are those of a socket */
export function callServer(socket: Socket, secret: string, client: string | undefined): TLSSocket {
  socket.write(WORD);
  const psk = keyOf(secret);
  const link = connect({
    ...LINK,
    socket,
    pskCallback: () => ({ psk, identity: 'server' }),
    // The key has proved more than a name would.
    checkServerIdentity: () => undefined,
  });
  link.write(`${client ?? '-'}\n`);
  return link;
}

/**
 * The other side, once {@link WORD} was read. `got` hears the connection as a client would have made it: its bytes,
 * and the address of the client.
 */
export function answerServer(socket: Socket, secret: string, got: (client: Socket, rest: Buffer) => void): void {
  const psk = keyOf(secret);
  // Types know `pskCallback` of servers only.
  const options = { ...LINK, isServer: true, pskCallback: () => psk } as TLSSocketOptions;
  const link = new TLSSocket(socket, options);
  let first: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    first = Buffer.concat([first, chunk]);
    const line = first.subarray(0, LONGEST_LINE).indexOf(NEWLINE);
    if (line < 0) {
      if (first.length >= LONGEST_LINE) link.destroy();
      return;
    }
    link.off('data', take).off('end', end);
    link.pause();
    const client = first.subarray(0, line).toString('latin1');
    // Limits by address count the client, not the server between.
    if (isIP(client) !== 0) Object.defineProperty(link, 'remoteAddress', { value: client, configurable: true });
    // Whether the client came by TLS is not the business of this one.
    Object.defineProperty(link, 'encrypted', { value: undefined, configurable: true });
    got(link, first.subarray(line + 1));
  };
  const end = (): void => void link.destroy();
  link.on('error', end);
  link.on('data', take);
  link.once('end', end);
}
