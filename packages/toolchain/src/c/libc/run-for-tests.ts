/** A program of C or C++ in memory, compiled, linked and run to its end: for tests of the C library. */
import { buildModule } from '../build-module.ts';
import { TestHost } from '../host-for-tests.ts';

export function runProgram(
  source: string,
  options: { readonly name?: string; readonly flags?: readonly string[]; readonly args?: readonly string[] } = {},
): TestHost {
  const { wasm, info } = buildModule({ [options.name ?? '/main.c']: source }, { flags: options.flags ?? [] });
  const host = new TestHost(wasm, info, {}, ['a.out', ...(options.args ?? [])]);
  host.run();
  return host;
}
