import type { ModuleFacts } from './wasm-module.ts';
export const LINES = 'mayfly.lines';
export function lineSection(_linked: Uint8Array, _facts: ModuleFacts, _instrumented: Uint8Array): Uint8Array | undefined {
  return undefined;
}
