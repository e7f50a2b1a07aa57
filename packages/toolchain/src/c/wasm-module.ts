/**
 * What the toolchain has to know of a wasm module before Binaryen sees it: sections, imports, exports, memory, mutable
 * globals, and the instructions that its functions use. Reads only; every length and index is checked, so that any
 * bytes whatever end in a {@link ModuleError} or in an answer. Cost: one pass over the code.
 */
export type ModuleProblem =
  | 'NOT_WASM'
  | 'INVALID'
  | 'TOO_LARGE'
  | 'THREADS'
  | 'RELAXED_SIMD'
  | 'TABLE_CHANGES'
  | 'EXCEPTIONS'
  | 'UNSUPPORTED_FEATURE'
  | 'UNKNOWN_IMPORT'
  | 'MEMORY_LIMIT'
  | 'NO_MEMORY'
  | 'NO_START'
  | 'START_FUNCTION'
  | 'IMPORTED_STATE'
  | 'DAMAGED_SECTION';

/** A module that cannot be made checkpointable; the message is for its author. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
  readonly problem: ModuleProblem;
  constructor(problem: ModuleProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

export interface Section {
  readonly id: number;
  /** Of a custom section, else ''. */
  readonly name: string;
  /** Of the whole section: its id byte. */
  readonly start: number;
  /** Of what it holds, behind the name. */
  readonly body: number;
  readonly end: number;
}

export interface Import {
  readonly module: string;
  readonly name: string;
  readonly kind: Kind;
  /** Of a global. */
  readonly mutable: boolean;
}
export type Kind = 'function' | 'table' | 'memory' | 'global' | 'tag';
const KINDS: readonly Kind[] = ['function', 'table', 'memory', 'global', 'tag'];

/** A place in the code where an instruction starts, with its length. */
export interface Site {
  readonly at: number;
  readonly length: number;
}

export interface Code {
  /** Bodies (behind their size) by defined function. */
  readonly bodies: readonly Site[];
  readonly grows: readonly Site[];
  readonly sizes: readonly Site[];
  /** By defined function: where a stack may stand: calls, and what can trap. */
  readonly sites: readonly (readonly StackSite[])[];
}

export interface StackSite {
  readonly at: number;
  /** Opcode, 0xfc and 0xfd with their sub-opcode. `memory.grow` counts as a call, since it becomes one. */
  readonly op: number;
  readonly call: boolean;
}

export interface ModuleFacts {
  readonly sections: readonly Section[];
  readonly imports: readonly Import[];
  readonly exports: readonly { readonly name: string; readonly kind: Kind; readonly index: number }[];
  readonly memory:
    { readonly initial: number; readonly maximum: number | undefined; readonly shared: boolean } | undefined;
  readonly types: number;
  readonly importedFunctions: number;
  readonly definedFunctions: number;
  readonly code: Code;
}

/** A reader with a bound. */
export class Reader {
  at: number;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.at = at;
    this.#end = Math.min(end, bytes.length);
  }

  get done(): boolean {
    return this.at >= this.#end;
  }

  byte(): number {
    if (this.at >= this.#end) throw new ModuleError('INVALID', 'The module is truncated.');
    return this.#bytes[this.at++]!;
  }

  skip(n: number): void {
    if (n > this.#end - this.at) throw new ModuleError('INVALID', 'The module is truncated.');
    this.at += n;
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const b = this.byte();
      value += (b & 0x7f) * 2 ** shift;
      if (b < 0x80) {
        if (value > 0xffffffff) break;
        return value;
      }
    }
    throw new ModuleError('INVALID', 'A number of the module is too long.');
  }

  /** Skips a LEB128 number of any width up to 64 bits. */
  leb(): void {
    for (let i = 0; i < 10; i++) if (this.byte() < 0x80) return;
    throw new ModuleError('INVALID', 'A number of the module is too long.');
  }

  text(): string {
    const length = this.u32();
    const from = this.at;
    this.skip(length);
    return new TextDecoder().decode(this.#bytes.subarray(from, this.at));
  }
}

export function sectionsOf(wasm: Uint8Array): Section[] {
  if (wasm.length < 8 || new DataView(wasm.buffer, wasm.byteOffset).getUint32(0, true) !== 0x6d736100)
    throw new ModuleError('NOT_WASM', 'This is not a WebAssembly module.');
  if (wasm[4] !== 1 || wasm[5] !== 0 || wasm[6] !== 0 || wasm[7] !== 0)
    throw new ModuleError('NOT_WASM', 'This is not a WebAssembly module of version 1 (is it a component?).');
  const sections: Section[] = [];
  const r = new Reader(wasm, 8);
  while (!r.done) {
    const start = r.at;
    const id = r.byte();
    const length = r.u32();
    let body = r.at;
    r.skip(length);
    let name = '';
    if (id === 0) {
      const inner = new Reader(wasm, body, r.at);
      name = inner.text();
      body = inner.at;
    }
    sections.push({ id, name, start, body, end: r.at });
  }
  return sections;
}

interface Limits {
  initial: number;
  maximum: number | undefined;
  shared: boolean;
}

function limits(r: Reader): Limits {
  const flags = r.byte();
  if ((flags & ~3) !== 0)
    throw new ModuleError(
      'UNSUPPORTED_FEATURE',
      'The module uses a 64-bit memory or pages of an own size; a rank has one 32-bit memory.',
    );
  return { initial: r.u32(), maximum: (flags & 1) !== 0 ? r.u32() : undefined, shared: (flags & 2) !== 0 };
}

/**
 * Facts of a module that an engine has found valid.
 * @param instrumented it is a result of ours, and may have WebAssembly's older exception instructions
 * @throws ModuleError also for instructions that no rank may use
 */
export function readModule(wasm: Uint8Array, instrumented = false): ModuleFacts {
  const sections = sectionsOf(wasm);
  const part = (id: number): Reader | undefined => {
    const s = sections.find((x) => x.id === id);
    return s && new Reader(wasm, s.body, s.end);
  };
  const imports: Import[] = [];
  const memories: Limits[] = [];
  const importPart = part(2);
  for (let n = importPart?.u32() ?? 0; n > 0; n--) {
    const r = importPart!;
    const [module, name] = [r.text(), r.text()];
    const kind = KINDS[r.byte()];
    if (kind === undefined)
      throw new ModuleError('UNSUPPORTED_FEATURE', `The import ${module}.${name} is of a kind that is not known here.`);
    let mutable = false;
    if (kind === 'function') r.u32();
    else if (kind === 'memory') memories.push(limits(r));
    else if (kind === 'table') {
      r.byte();
      limits(r);
    } else if (kind === 'global') {
      r.byte();
      mutable = r.byte() === 1;
    } else {
      r.byte();
      r.u32();
    }
    imports.push({ module, name, kind, mutable });
  }
  const memoryPart = part(5);
  for (let n = memoryPart?.u32() ?? 0; n > 0; n--) memories.push(limits(memoryPart!));
  if (memories.length > 1)
    throw new ModuleError('UNSUPPORTED_FEATURE', 'The module has several memories; a rank has one.');
  const exports: { name: string; kind: Kind; index: number }[] = [];
  const exportPart = part(7);
  for (let n = exportPart?.u32() ?? 0; n > 0; n--)
    exports.push({ name: exportPart!.text(), kind: KINDS[exportPart!.byte()] ?? 'tag', index: exportPart!.u32() });
  return {
    sections,
    imports,
    exports,
    memory: memories[0],
    types: part(1)?.u32() ?? 0,
    importedFunctions: imports.filter((i) => i.kind === 'function').length,
    definedFunctions: part(3)?.u32() ?? 0,
    // What our own instrumentation has put in may stand there.
    code: readCode(part(10), instrumented || sections.some((s) => s.id === 0 && s.name === 'mayfly')),
  };
}

function readCode(r: Reader | undefined, exceptions: boolean): Code {
  const bodies: Site[] = [];
  const grows: Site[] = [];
  const sizes: Site[] = [];
  const sites: StackSite[][] = [];
  for (let n = r?.u32() ?? 0; n > 0; n--) {
    const length = r!.u32();
    const at = r!.at;
    r!.skip(length);
    bodies.push({ at, length });
    const here: StackSite[] = [];
    scanBody(r!, at, at + length, grows, sizes, here, exceptions);
    sites.push(here);
    r!.at = at + length;
  }
  return { bodies, grows, sizes, sites };
}

const refuse = {
  threads: () =>
    new ModuleError(
      'THREADS',
      'The module uses instructions of threads (atomics); a rank has one thread. Build it without -pthread ' +
        'and -matomics.',
    ),
  exceptions: () =>
    new ModuleError(
      'EXCEPTIONS',
      'The module uses WebAssembly exceptions (also: setjmp), which cannot be unwound for a checkpoint. ' +
        'Build it with mayfly mpicc or mpicxx, which have exceptions of their own.',
    ),
  table: () =>
    new ModuleError(
      'TABLE_CHANGES',
      'The module changes its function table while it runs, which a checkpoint would not keep.',
    ),
  relaxed: () =>
    new ModuleError(
      'RELAXED_SIMD',
      'The module uses relaxed SIMD, whose results differ between machines. Build it without -mrelaxed-simd.',
    ),
  other: (what: string) =>
    new ModuleError('UNSUPPORTED_FEATURE', `The module uses ${what}, which cannot be unwound for a checkpoint.`),
};

function scanBody(
  r: Reader,
  at: number,
  end: number,
  grows: Site[],
  sizes: Site[],
  sites: StackSite[],
  exceptions: boolean,
): void {
  r.at = at;
  for (let n = r.u32(); n > 0; n--) {
    r.u32();
    r.byte();
  }
  while (r.at < end) {
    const start = r.at;
    const op = r.byte();
    if (op >= 0x45 && op <= 0xc4) {
      if (isDivision(op)) sites.push({ at: start, op, call: false });
      continue;
    }
    if (op >= 0x28 && op <= 0x3e) {
      memoryArgument(r);
      sites.push({ at: start, op, call: false });
      continue;
    }
    if (op >= 0x20 && op <= 0x24) {
      r.leb();
      continue;
    }
    switch (op) {
      case 0x00:
        sites.push({ at: start, op, call: false });
        break;
      case 0x01:
      case 0x05:
      case 0x0b:
      case 0x0f:
      case 0x1a:
      case 0x1b:
      case 0xd1:
        break;
      case 0x02:
      case 0x03:
      case 0x04:
      case 0x0c:
      case 0x0d:
      case 0x25:
      case 0x41:
      case 0x42:
      case 0xd0:
      case 0xd2:
        r.leb();
        break;
      case 0x10:
        r.leb();
        sites.push({ at: start, op, call: true });
        break;
      case 0x11:
        r.leb();
        r.leb();
        sites.push({ at: start, op, call: true });
        break;
      case 0x0e:
        for (let n = r.u32() + 1; n > 0; n--) r.leb();
        break;
      case 0x1c:
        for (let n = r.u32(); n > 0; n--) r.byte();
        break;
      case 0x3f:
      case 0x40:
        r.leb();
        (op === 0x40 ? grows : sizes).push({ at: start, length: r.at - start });
        if (op === 0x40) sites.push({ at: start, op: 0x10, call: true });
        break;
      case 0x43:
        r.skip(4);
        break;
      case 0x44:
        r.skip(8);
        break;
      case 0x26:
        throw refuse.table();
      case 0x06:
      case 0x07:
      case 0x08:
        if (!exceptions) throw refuse.exceptions();
        r.leb();
        break;
      case 0x09:
      case 0x0a:
      case 0x18:
      case 0x19:
      case 0x1f:
        throw refuse.exceptions();
      case 0x12:
      case 0x13:
        throw refuse.other('tail calls (build it without -mtail-call)');
      case 0xfc:
        bulk(r);
        break;
      case 0xfd:
        simd(r);
        break;
      case 0xfe:
        throw refuse.threads();
      default:
        throw refuse.other(`an instruction (0x${op.toString(16)}) of a newer WebAssembly`);
    }
  }
}

/** Integer divisions, remainders, and conversions from floating point. */
const isDivision = (op: number): boolean =>
  (op >= 0x6d && op <= 0x70) || (op >= 0x7f && op <= 0x82) || (op >= 0xa8 && op <= 0xab) || (op >= 0xae && op <= 0xb1);

function memoryArgument(r: Reader): void {
  const flags = r.u32();
  if ((flags & 0x40) !== 0) r.u32();
  r.leb();
}

function bulk(r: Reader): void {
  const op = r.u32();
  if (op <= 7) return;
  if (op === 8 || op === 10) {
    r.leb();
    r.leb();
  } else if (op === 9 || op === 11 || op === 16) r.leb();
  else if (op >= 12 && op <= 17) throw refuse.table();
  else throw refuse.other(`an instruction (0xfc ${op}) of a newer WebAssembly`);
}

function simd(r: Reader): void {
  const op = r.u32();
  if (op >= 0x100) throw refuse.relaxed();
  if (op <= 11 || op === 92 || op === 93) memoryArgument(r);
  else if (op === 12 || op === 13) r.skip(16);
  else if (op >= 21 && op <= 34) r.byte();
  else if (op >= 84 && op <= 91) {
    memoryArgument(r);
    r.byte();
  }
}
