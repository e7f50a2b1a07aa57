/** What is said of a trap: the cause that a user can act upon. */
import { expect, it } from 'vitest';
import { describeTrap } from '../src/host/trap.ts';

const trap = (message: string, stack: string): Error => Object.assign(new WebAssembly.RuntimeError(message), { stack: `RuntimeError: ${message}\n${stack}` });

it('names the function that is called without its declaration', () => {
  const { message, stack } = describeTrap(trap('unreachable', '    at signature_mismatch:time (wasm://wasm/a:wasm-function[16]:0x435)\n    at main (wasm://wasm/a:wasm-function[28]:0xc32)'), undefined);
  expect(message).toBe('the program trapped: time is called with other argument or result types than it has: is an #include missing?');
  expect(stack).toContain('at main (wasm-function[28]:0xc32)');
});
it('says that long has 32 bits, where code took it for 64', () => {
  expect(describeTrap(trap('memory access out of bounds', '    at visit (wasm://wasm/a:wasm-function[3]:0x10)'), undefined).message).toMatch(/out of bounds: a wild pointer, .*long and pointers/);
});
it('says what abort() leaves', () => {
  expect(describeTrap(trap('unreachable', '    at abort (wasm://wasm/a:wasm-function[3]:0x10)'), undefined).message).toMatch(/abort\(\), a failed assertion/);
});
