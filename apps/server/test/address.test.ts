import { expect, it } from 'vitest';
import { addressOf, networkOf } from '../src/serve/address.ts';

it('believes a proxy only where it is told to', () => {
  const handshake = { headers: { 'x-forwarded-for': '203.0.113.7, 10.0.0.1' }, address: '127.0.0.1' };
  expect(addressOf(handshake, false)).toBe('127.0.0.1');
  expect(addressOf(handshake, true)).toBe('203.0.113.7');
  expect(addressOf({ headers: {}, address: '127.0.0.1' }, true)).toBe('127.0.0.1');
});

it('counts an IPv6 network of 64 bits as one address', () => {
  expect(networkOf('203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('2001:db8:0:7::1')).toBe(networkOf('2001:0DB8:0000:7:aaaa:bbbb:cccc:dddd'));
  expect(networkOf('2001:db8:0:7::1')).not.toBe(networkOf('2001:db8:0:8::1'));
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(networkOf('::1')).toBe('0:0:0:0::/64');
});
