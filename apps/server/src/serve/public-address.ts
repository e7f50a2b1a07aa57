/**
 * Which addresses the server may call for others (webhooks.ts). Those of its own machine and network are not among
 * them: they often trust whoever reaches them. Some of these are public by their numbers: what calls one of its own
 * machine never passes the firewall, and a neighbour may trust the whole network.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';

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

/** This machine's addresses as they are now, each with the network that it is in. */
function ownNetworks(interfaces: typeof networkInterfaces): BlockList {
  const own = new BlockList();
  for (const { address, cidr, family } of Object.values(interfaces()).flatMap((all) => all ?? [])) {
    const version = family === 'IPv4' ? 'ipv4' : 'ipv6';
    // Without a valid mask Node names no network.
    if (cidr === null) own.addAddress(address, version);
    else own.addSubnet(address, Number(cidr.split('/')[1]), version);
  }
  return own;
}

/**
 * Addresses come and go, so this is asked just before each connection.
 * @param address IPv4 or IPv6; anything else is not public
 */
export function isPublic(address: string, interfaces = networkInterfaces): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return (
    (version === 4 || unicast.check(address, family)) &&
    !reserved.check(address, family) &&
    !ownNetworks(interfaces).check(address, family)
  );
}

/** For sockets: as the system resolves a name, but to public addresses alone. What is checked is what is used. */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, '');
    const allowed = found.filter(({ address }) => isPublic(address));
    const [first] = allowed;
    if (!first) return callback(new Error(`${hostname} has no public address`), '');
    if (options.all) callback(null, allowed);
    else callback(null, first.address, first.family);
  });
};
