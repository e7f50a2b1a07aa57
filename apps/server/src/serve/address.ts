/**
 * Where a request, a handshake of socket.io or an upgrade comes from.
 *
 *  A1  A client may write what it likes into X-Forwarded-For, and most proxies add to that: only the entries that the
 *      operator's own proxies added are true. So the count goes from the right: behind `hops` proxies the client is the
 *      entry number `hops` from the end. With 0 hops the header is not read.
 *  A2  Requests (Fastify counts by `isProxy`) and sockets (`addressOf`) come to the same address.
 */
import type { IncomingMessage } from 'node:http';

interface Handshake {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of the other end of the connection. */
  readonly address: string;
}

/** Fastify's `trustProxy`: whether the n-th address from the right, the connection's being number 0, is a proxy's. */
export const isProxy =
  (hops: number) =>
  (_address: string, n: number): boolean =>
    n < hops;

/** @param hops proxies of the operator before this server */
export function addressOf({ headers, address }: Handshake, hops: number): string {
  if (hops === 0) return address;
  const forwarded = [headers['x-forwarded-for']].flat().join(',').split(',');
  const all = [...forwarded.map((entry) => entry.trim()).filter((entry) => entry !== ''), address];
  // Fewer entries than proxies: a request of one of these itself, or past one. What is left is the best there is.
  return all[Math.max(0, all.length - 1 - hops)]!;
}

/** Of an upgrade. */
export const clientOf = ({ headers, socket }: IncomingMessage, hops: number): string =>
  addressOf({ headers, address: socket.remoteAddress ?? '' }, hops);

/**
 * What one owner has: an IPv4 address, or the /64 of an IPv6 address, whose 2^64 others are as easily had. Some proxies
 * write a port behind the address: each connection has another one.
 */
export function networkOf(given: string): string {
  const address = given.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const all =
    tail === undefined
      ? left
      : [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'), ...right];
  return `${all
    .slice(0, 4)
    .map((g) => g.replace(/^0+(?=.)/, '').toLowerCase())
    .join(':')}::/64`;
}
