/**
 * Where a socket.io client comes from. Behind a proxy that is trusted: the first one of its list, as Fastify has it for
 * requests.
 */
interface Handshake {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly address: string;
}

export function addressOf({ headers, address }: Handshake, trustProxy: boolean): string {
  const forwarded = trustProxy ? [headers['x-forwarded-for']].flat()[0]?.split(',')[0]?.trim() : undefined;
  return forwarded || address;
}

/** What one owner has: an IPv4 address, or the /64 of an IPv6 address, whose 2^64 others are as easily had. */
export function networkOf(address: string): string {
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
