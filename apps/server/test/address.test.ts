/** A1 of serve/address.ts: whose request it is, behind proxies that add to what a client claims. */
import { expect, it } from 'vitest';
import { addressOf, networkOf } from '../src/serve/address.ts';

it('A1: believes proxies only where it is told to, and counts them from the right', () => {
  const of = (forwarded: string | string[] | undefined, hops: number): string =>
    addressOf({ headers: { 'x-forwarded-for': forwarded }, address: '127.0.0.1' }, hops);
  const appended = 'claimed, 203.0.113.7,10.0.0.1';
  expect([0, 1, 2, 3, 4].map((hops) => of(appended, hops))).toEqual([
    '127.0.0.1',
    '10.0.0.1',
    '203.0.113.7',
    'claimed',
    'claimed',
  ]);
  expect(of(['claimed', '203.0.113.7'], 1)).toBe('203.0.113.7');
  expect([of(undefined, 1), of('', 2), of(' , ', 1)]).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
});

it('counts an IPv6 network of 64 bits as one address', () => {
  expect(networkOf('203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('::ffff:203.0.113.7')).toBe('203.0.113.7');
  expect(networkOf('203.0.113.7:4711')).toBe('203.0.113.7');
  expect(networkOf('2001:db8:0:7::1')).toBe(networkOf('2001:0DB8:0000:7:aaaa:bbbb:cccc:dddd'));
  expect(networkOf('[2001:db8:0:7::1]:443')).toBe(networkOf('2001:db8:0:7::2'));
  expect(networkOf('2001:db8:0:7::1')).not.toBe(networkOf('2001:db8:0:8::1'));
  expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(networkOf('::1')).toBe('0:0:0:0::/64');
});
