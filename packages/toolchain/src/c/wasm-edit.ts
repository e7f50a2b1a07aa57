/**
 * Byte-level edits of a module before Binaryen reads it: sections left out, the memory's limits set, and every
 * `memory.grow` and `memory.size` turned into a call of one added function, so that Binaryen can give that function
 * another body.
 */
import { type ModuleFacts, Reader, type Section, type Site } from './wasm-module.ts';

export interface Edit {
  readonly memory: { readonly initial: number; readonly maximum: number };
  /** Custom sections that are left out. */
  readonly dropCustom: (name: string) => boolean;
  readonly wrapSize: boolean;
}

export interface Edited {
  readonly wasm: Uint8Array;
  /** Index of the function that every `memory.grow` calls; undefined when there is none. */
  readonly grow: number | undefined;
  readonly size: number | undefined;
}

export function u32(value: number): number[] {
  const out: number[] = [];
  do {
    const b = value % 128;
    value = Math.floor(value / 128);
    out.push(value > 0 ? b | 0x80 : b);
  } while (value > 0);
  return out;
}

/** (i32) → i32 and () → i32. */
const GROW_TYPE = [0x60, 1, 0x7f, 1, 0x7f];
const SIZE_TYPE = [0x60, 0, 1, 0x7f];
const GROW_BODY = [0, 0x20, 0, 0x40, 0, 0x0b];
const SIZE_BODY = [0, 0x3f, 0, 0x0b];

export function editModule(wasm: Uint8Array, facts: ModuleFacts, edit: Edit): Edited {
  const functions = facts.importedFunctions + facts.definedFunctions;
  const added: { type: number[]; body: number[]; sites: readonly Site[]; index: number }[] = [];
  const add = (type: number[], body: number[], sites: readonly Site[]): number | undefined => {
    if (sites.length === 0) return undefined;
    added.push({ type, body, sites, index: functions + added.length });
    return functions + added.length - 1;
  };
  const grow = add(GROW_TYPE, GROW_BODY, facts.code.grows);
  const size = add(SIZE_TYPE, SIZE_BODY, edit.wrapSize ? facts.code.sizes : []);

  const chunks: Uint8Array[] = [wasm.subarray(0, 8)];
  const section = (id: number, ...content: (Uint8Array | number[])[]): void => {
    const length = content.reduce((sum, c) => sum + c.length, 0);
    chunks.push(
      Uint8Array.from([id, ...u32(length)]),
      ...content.map((c) => (c instanceof Uint8Array ? c : Uint8Array.from(c))),
    );
  };
  /** A vector section with more entries behind its own. */
  const appended = (s: Section, more: readonly number[][]): void => {
    const r = new Reader(wasm, s.body, s.end);
    const count = r.u32();
    section(s.id, u32(count + more.length), wasm.subarray(r.at, s.end), more.flat());
  };
  for (const s of facts.sections) {
    if (s.id === 0 && edit.dropCustom(s.name)) continue;
    if (s.id === 1 && added.length > 0)
      appended(
        s,
        added.map((a) => a.type),
      );
    else if (s.id === 3 && added.length > 0)
      appended(
        s,
        added.map((_, i) => u32(facts.types + i)),
      );
    else if (s.id === 5) section(5, [1, 1, ...u32(edit.memory.initial), ...u32(edit.memory.maximum)]);
    else if (s.id === 10 && added.length > 0) section(10, ...codeWith(wasm, facts, added));
    else chunks.push(wasm.subarray(s.start, s.end));
  }
  return { wasm: concatenate(chunks), grow, size };
}

function codeWith(
  wasm: Uint8Array,
  facts: ModuleFacts,
  added: readonly { body: number[]; sites: readonly Site[]; index: number }[],
): Uint8Array[] {
  const sites = added
    .flatMap((a) => a.sites.map((s) => ({ ...s, call: Uint8Array.from([0x10, ...u32(a.index)]) })))
    .sort((a, b) => a.at - b.at);
  const out: Uint8Array[] = [Uint8Array.from(u32(facts.code.bodies.length + added.length))];
  let next = 0;
  for (const body of facts.code.bodies) {
    const parts: Uint8Array[] = [];
    let at = body.at;
    for (; next < sites.length && sites[next]!.at < body.at + body.length; next++) {
      const s = sites[next]!;
      parts.push(wasm.subarray(at, s.at), s.call);
      at = s.at + s.length;
    }
    parts.push(wasm.subarray(at, body.at + body.length));
    out.push(Uint8Array.from(u32(parts.reduce((sum, p) => sum + p.length, 0))), ...parts);
  }
  for (const a of added) out.push(Uint8Array.from([...u32(a.body.length), ...a.body]));
  return out;
}

export function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, c) => sum + c.length, 0));
  let at = 0;
  for (const c of chunks) {
    out.set(c, at);
    at += c.length;
  }
  return out;
}

/** The module with a custom section at its end. */
export function withCustomSection(wasm: Uint8Array, name: string, content: Uint8Array): Uint8Array {
  const encoded = new TextEncoder().encode(name);
  const inner = concatenate([Uint8Array.from(u32(encoded.length)), encoded, content]);
  return concatenate([wasm, Uint8Array.from([0, ...u32(inner.length)]), inner]);
}
