/** The addresses that `mayfly server` prints for other devices. */
import { expect, test } from 'vitest';
import { others } from '../src/commands/server.ts';

const HERE = ['192.0.2.2', '198.51.100.7', '[2001:db8::2]'];
const http = { port: 7801, localUrl: 'http://localhost:7801' };
const https = { port: 7801, localUrl: 'https://localhost:7801' };

test('a server that only this machine reaches names no others', () => {
  for (const host of [undefined, '127.0.0.1', 'localhost', '::1'])
    expect(others(http, host === undefined ? {} : { host }, HERE)).toEqual([]);
  expect(others(https, { host: '0.0.0.0', publicUrl: 'https://mayfly.example.org' }, HERE)).toEqual([]);
});

test('with HTTPS each address of the machine is one that works', () => {
  expect(others(https, { host: '0.0.0.0', room: 'physics7' }, HERE)).toEqual([
    '  others      https://192.0.2.2:7801/volunteer?room=physics7',
    '              https://198.51.100.7:7801/volunteer?room=physics7',
    '',
  ]);
  expect(others(https, { host: '::' }, HERE)[2]).toContain('https://[2001:db8::2]:7801/volunteer');
  expect(others(https, { host: '192.0.2.2' }, HERE)[0]).toContain('https://192.0.2.2:7801/volunteer');
});

test('without HTTPS it says that their tabs cannot compute, and what to add', () => {
  expect(others(http, { host: '0.0.0.0' }, HERE)[2]).toMatch(/cannot compute without HTTPS: add --tls-self-signed/);
});
