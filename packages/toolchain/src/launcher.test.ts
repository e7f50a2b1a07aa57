import { expect, it } from 'vitest';
import { launcher, moduleOf, moduleOffset } from './launcher.ts';

const MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0x0a, 0, 0x61, 0x73, 0x6d);
const behind = (head: Uint8Array): Uint8Array => Uint8Array.from([...head, ...MODULE]);

it('a module is found behind its launcher, and where there is none', () => {
  expect(moduleOf(behind(launcher(['/usr/bin/node', "/it's here/mayfly.js"])))).toEqual(MODULE);
  expect(moduleOffset(MODULE)).toBe(0);
});

it('a script, an archive and a head that is too long are no module', () => {
  const script = new TextEncoder().encode('#!/bin/sh\necho hello\n');
  expect(moduleOffset(script)).toBeUndefined();
  expect(moduleOf(script)).toEqual(script);
  expect(moduleOffset(new TextEncoder().encode('!<arch>\n'))).toBeUndefined();
  expect(moduleOffset(behind(new TextEncoder().encode(`#!${' '.repeat(9000)}\n`)))).toBeUndefined();
  expect(moduleOffset(new Uint8Array())).toBeUndefined();
});
