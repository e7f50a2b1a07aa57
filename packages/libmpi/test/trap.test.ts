/** What is said of a trap: the cause that a user can act upon. */
import { expect, it } from 'vitest';
import { describeTrap } from '../src/host/trap.ts';

const trap = (message: string, stack: string): Error =>
  Object.assign(new WebAssembly.RuntimeError(message), { stack: `RuntimeError: ${message}\n${stack}` });

it('names the function that is called without its declaration', () => {
  const { message, stack } = describeTrap(
    trap(
      'unreachable',
      '    at signature_mismatch:time (wasm://wasm/a:wasm-function[16]:0x435)\n    at main ' +
        '(wasm://wasm/a:wasm-function[28]:0xc32)',
    ),
    undefined,
  );
  expect(message).toBe(
    'the program trapped: time is called with other argument or result types than it has: is an #include missing?',
  );
  expect(stack).toContain('at main (wasm-function[28]:0xc32)');
});
it('says that pointers have 32 bits, where code took them for 64', () => {
  expect(
    describeTrap(trap('memory access out of bounds', '    at visit (wasm://wasm/a:wasm-function[3]:0x10)'), undefined)
      .message,
  ).toMatch(/out of bounds: an index .*, a wild pointer, .*pointers .*-mno-long64.* 32/);
});
it('says what abort() leaves', () => {
  expect(
    describeTrap(trap('unreachable', '    at abort (wasm://wasm/a:wasm-function[3]:0x10)'), undefined).message,
  ).toMatch(/abort\(\), a failed assertion/);
});

/**
 * What this engine makes of a function of these instructions: (module (type (func)) (type (func (result i32))) (table 4
 * funcref) (memory 1) (elem (i32.const 1) $one) (func …) (func $one (result i32) (i32.const 0)))
 */
function ran(...body: number[]): unknown {
  const code = [0, ...body, 0x0b];
  const section = (id: number, ...bytes: number[]): number[] => [id, bytes.length, ...bytes];
  const module = [
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, 2, 0x60, 0, 0, 0x60, 0, 1, 0x7f),
    ...section(3, 2, 0, 1),
    ...section(4, 1, 0x70, 0, 4),
    ...section(5, 1, 0, 1),
    ...section(7, 1, 1, 0x66, 0, 0),
    ...section(9, 1, 0, 0x41, 1, 0x0b, 1, 1),
    ...section(10, 2, code.length, ...code, 4, 0, 0x41, 0, 0x0b),
  ];
  try {
    (new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(module))).exports['f'] as () => void)();
  } catch (e) {
    return e;
  }
  throw new Error('it did not trap');
}

it.each([
  ['unreachable', [0x00], /unreachable code was executed: abort/],
  ['a load at -1', [0x41, 0x7f, 0x28, 2, 0, 0x1a], /memory was accessed out of bounds: an index/],
  ['1 / 0', [0x41, 1, 0x41, 0, 0x6d, 0x1a], /an integer was divided by zero/],
  [
    'INT_MIN / -1',
    [0x41, 0x80, 0x80, 0x80, 0x80, 0x78, 0x41, 0x7f, 0x6d, 0x1a],
    /division overflowed: the least integer by −1/,
  ],
  ['(int)NAN', [0x43, 0, 0, 0xc0, 0x7f, 0xa8, 0x1a], /does not fit the integer/],
  ['a call through NULL', [0x41, 0, 0x11, 0, 0], /function pointer that points to no function \(NULL/],
  [
    'a call through a pointer of another type',
    [0x41, 1, 0x11, 0, 0],
    /or to one with other arguments or another result/,
  ],
  [
    'a call through a pointer to nowhere',
    [0x41, 9, 0x11, 0, 0],
    /function pointer that points to no function: it was overwritten/,
  ],
  ['a recursion without end', [0x10, 0], /the stack has run out: too deep a recursion/],
] as [string, number[], RegExp][])('says of %s which trap it is and what usually causes it', (_, body, says) => {
  expect(describeTrap(ran(...body), undefined).message).toMatch(says);
});

it.each([
  ['unreachable executed', /abort\(\)/],
  ['index out of bounds', /memory was accessed out of bounds/],
  ['integer divide by zero', /divided by zero/],
  ['integer overflow', /overflowed/],
  ['float unrepresentable in integer range', /does not fit/],
  ['indirect call to null', /points to no function: NULL/],
  ['indirect call signature mismatch', /other arguments or another result/],
])('says the same of what Firefox calls “%s”', (message, says) => {
  expect(describeTrap(trap(message, ''), undefined).message).toMatch(says);
});
