/** Handlers, masks, abort() and jumps out of handlers, as POSIX has them for signals that a process sends to itself. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { buildModule } from '../build-module.ts';
import { TestHost } from '../host-for-tests.ts';
import { runProgram } from './run-for-tests.ts';

it('abort(), raise() and kill() call handlers by mask and flags; what nobody handles ends the program', () => {
  const source = readFileSync(new URL('programs/signals.c', import.meta.url), 'utf8');
  const { wasm, info } = buildModule({ '/main.c': source });
  const host = new TestHost(wasm, info, {});
  expect(() => host.run()).toThrow(/unreachable/);
  expect(host.out).toBe(
    [
      'abort 1, abort 1, abort 1, on',
      '0 info 1 1, reset 1',
      '10 blocked 0 pending 1 delivered 1',
      'dropped 2 1',
      'left by 1 blocked 0',
      '1 1 0 0 1 alarm 0 1',
      '',
    ].join('\n'),
  );
  expect(host.err).toBe(
    'Assertion failed: argc > 100 (main.c: main: 25)\n' +
      'mayfly: alarm: a rank gets no signals\n' +
      'mayfly: the signal 24 (CPU time limit exceeded), for which there is no handler, ends the program\n',
  );
});

it.each(['-std=c99', '-std=c11', '-ansi', '-std=c23'])(
  'the headers compile with %s, which hides sigaction()',
  (mode) => {
    const source = `
#include <signal.h>
#include <setjmp.h>
#include <stdio.h>
static volatile sig_atomic_t got;
struct sigaction { int own; };
static void note(int n) { got = n; }
int main(void) { struct sigaction own = {7}; signal(SIGINT, note); raise(SIGINT); printf("%d %d\\n", got == SIGINT, own.own); return 0; }`;
    expect(runProgram(source, { flags: [mode] }).out).toBe('1 7\n');
  },
);
