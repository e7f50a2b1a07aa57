import { expect, it } from 'vitest';
import { Instance } from '../src/host/instance.ts';

/** A module that imports the function 'polluted' from a module of this name, and exports a memory. */
function importing(from: string): WebAssembly.Module {
  const text = (s: string): number[] => [s.length, ...Buffer.from(s)];
  const section = (id: number, ...bytes: number[]): number[] => [id, bytes.length, ...bytes];
  return new WebAssembly.Module(
    Uint8Array.from([
      0,
      0x61,
      0x73,
      0x6d,
      1,
      0,
      0,
      0,
      ...section(1, 1, 0x60, 0, 0),
      ...section(2, 1, ...text(from), ...text('polluted'), 0, 0),
      ...section(5, 1, 0, 1),
      ...section(7, 1, ...text('memory'), 2, 0),
    ]),
  );
}

it.each(['__proto__', 'constructor', 'toString'])(
  'a module that imports from "%s" gets what the host gives it, and changes no object',
  (from) => {
    try {
      const instance = new Instance(
        importing(from),
        { unwind: { start: 16, end: 64 }, functions: new Set(), maximum: 1 },
        () => () => undefined,
      );
      expect(instance.memory()).toHaveLength(65_536);
      expect('polluted' in {} || 'polluted' in Object || 'polluted' in Object.prototype.toString).toBe(false);
    } finally {
      delete (Object.prototype as { polluted?: unknown }).polluted;
    }
  },
);
