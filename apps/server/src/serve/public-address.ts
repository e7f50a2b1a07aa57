/**
 * Which addresses the server may call for others (webhooks.ts). Those of its own machine and network are not among
 * them: they often trust whoever reaches them.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Of IANA's list: this machine, private networks, link-local, documentation, multicast, reserved. */
const RESERVED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/** Within the global unicast addresses: protocol assignments (Teredo among them), documentation, 6to4. */
const RESERVED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const reserved = new BlockList();
for (const [net, bits] of RESERVED_V4) reserved.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of RESERVED_V6) reserved.addSubnet(net, bits, 'ipv6');
const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/** @param address IPv4 or IPv6; anything else is not public */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !reserved.check(address, 'ipv4');
  return version === 6 && unicast.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
}

/** For sockets: as the system resolves a name, but to public addresses alone. What is checked is what is used. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, '');
    const allowed = found.filter((a) => isPublic(a.address));
    const [first] = allowed;
    if (!first) return callback(new Error(`${hostname} has no public address`), '');
    if (options.all) callback(null, allowed);
    else callback(null, first.address, first.family);
  });
};
