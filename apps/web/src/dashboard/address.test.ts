import { expect, test } from 'vitest';
import { reachOf } from './address.ts';

test.each([
  ['http://localhost:7070', 'here'],
  ['http://lab.localhost', 'here'],
  ['https://127.0.0.1:7070', 'here'],
  ['http://[::1]:7070', 'here'],
  ['http://192.0.2.2:7801', 'insecure'],
  ['http://mayfly.example.org', 'insecure'],
  ['http://[2001:db8::1]:7070', 'insecure'],
  ['https://192.0.2.2:7801', 'everywhere'],
  ['https://mayfly.example.org', 'everywhere'],
])('tabs compute from %s: %s', (base, reach) => expect(reachOf(base)).toBe(reach));
