/**
 * From a linked module to one that can be checkpointed: what it may do is checked, its stack becomes unwindable at MPI
 * calls (Binaryen's Asyncify, no optimisation behind it: measured, it makes large codes slower), its state becomes
 * readable from outside.
 *
 * What it guarantees of its result: the imports are MPI's, WASI's, `mayfly.grow` and `mayfly.thrown`; one memory with a
 * maximum; the table never changes; all mutable globals but Asyncify's own two are exported as `mayfly.global.N`; the
 * custom section `mayfly` ({@link ModuleInfo}) says the rest. The same module and options give the same bytes.
 */
import binaryen from 'binaryen';
import { engine } from './engine.ts';
import { isAllowed, suspendingAmong } from './imports.ts';
import { defineInvokes, FLAG, isInvoke } from './invoke.ts';
import { lineSection, LINES } from './lines.ts';
import { mendMismatches } from './mismatch.ts';
import { editModule, withCustomSection } from './wasm-edit.ts';
import { ModuleError, readModule, type ModuleFacts } from './wasm-module.ts';

export const SECTION = 'mayfly';
export const SECTION_VERSION = 1;
const TOOLCHAIN = 'mayfly 1, clang 22, binaryen 132';
const PAGE = 65536;
/** Room for the unwound stack of a module that brings none. */
const FOREIGN_UNWIND_PAGES = 64;

export type SourceLanguage = 'c' | 'c++' | 'wasm';
export type GlobalType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

export interface InstrumentOptions {
  readonly language?: SourceLanguage;
  /** The memory's maximum may not exceed this; a larger one is lowered. Pages of 64 KB, default 65536 (4 GB). */
  readonly maxPages?: number;
  /** Imports at which the stack unwinds; default: those of the module that may wait or communicate. */
  readonly suspending?: readonly string[];
  /** Functions that never have a suspending call below them, besides stdio's writers; `*` stands for anything. */
  readonly neverSuspending?: readonly string[];
  /** Default 64 MB. */
  readonly maxBytes?: number;
}

/** JSON of the custom section `mayfly`. */
export interface ModuleInfo {
  readonly version: number;
  readonly toolchain: string;
  readonly language: SourceLanguage;
  /** Names of the exported mutable globals, in the order in which an image keeps them. */
  readonly globals: readonly { readonly name: string; readonly type: GlobalType }[];
  /** Where Asyncify may keep the unwound stack, in the linear memory: [start, end). */
  readonly unwind: { readonly start: number; readonly end: number };
  /** The C stack, where the link says where it lies: [low, high). */
  readonly stack?: { readonly low: number; readonly high: number };
  /** Pages of 64 KB. */
  readonly memory: { readonly initial: number; readonly maximum: number };
  /** Imports at which the stack can unwind. */
  readonly suspending: readonly string[];
}

export interface Instrumented {
  readonly wasm: Uint8Array;
  readonly info: ModuleInfo;
}

/** They call through the stream, never back into the program. */
const STDIO_WRITERS = [
  '__fwritex',
  '__overflow',
  '__towrite',
  '__stdio_exit',
  'fflush',
  'fflush_unlocked',
  '__fseeko_unlocked',
  '__fseeko',
  '__ftello_unlocked',
  'vfprintf',
  'vfwprintf',
  'printf_core',
  'wprintf_core',
];

/** @throws ModuleError with the reason, for a module that cannot be a rank's program */
export function instrument(wasm: Uint8Array, options: InstrumentOptions = {}): Instrumented {
  const { maxPages = PAGE, maxBytes = 64 << 20 } = options;
  if (wasm.length > maxBytes)
    throw new ModuleError('TOO_LARGE', `The module has ${wasm.length} bytes; ${maxBytes} are allowed.`);
  const facts = checkedFacts(wasm);
  const existing = facts.sections.find((s) => s.id === 0 && s.name === SECTION);
  if (existing !== undefined)
    return { wasm, info: readInfo(wasm.subarray(existing.body, existing.end), facts, maxPages) };

  const { initial, maximum = PAGE } = facts.memory!;
  const buffer = facts.exports.some((e) => e.name === 'mayfly_unwind_buffer' && e.kind === 'global');
  const pages = initial + (buffer ? 0 : FOREIGN_UNWIND_PAGES);
  if (pages > maxPages)
    throw new ModuleError(
      'MEMORY_LIMIT',
      `The module starts with ${Math.ceil(pages / 16)} MB of memory; the job allows ${Math.floor(maxPages / 16)} MB.`,
    );
  const memory = {
    initial: pages,
    maximum: Math.max(pages, Math.min(maximum + (buffer ? 0 : FOREIGN_UNWIND_PAGES), maxPages, PAGE)),
  };
  const edited = editModule(wasm, facts, {
    memory,
    wrapSize: !buffer,
    dropCustom: (name) => name !== 'name' && name !== 'target_features',
  });

  let m: Module | undefined;
  try {
    binaryen.setDebugInfo(true);
    m = binaryen.readBinary(edited.wasm);
    const leaves = facts.imports.some(isInvoke);
    m.setFeatures(leaves ? FEATURES | binaryen.Features.ExceptionHandling : FEATURES);
    replaceMemoryCalls(m, edited, buffer ? undefined : { old: initial, now: pages });
    if (leaves) defineInvokes(m, exportedAddress(m, FLAG));
    mendMismatches(m);
    const globals = exportGlobals(m);
    if (!facts.exports.some((e) => e.kind === 'table') && m.getNumTables() > 0)
      m.addTableExport(binaryen.getTableInfo(m.getTableByIndex(0)).name, '__indirect_function_table');
    const suspending = options.suspending ?? suspendingAmong(facts.imports);
    const info: ModuleInfo = {
      version: SECTION_VERSION,
      toolchain: TOOLCHAIN,
      language: options.language ?? 'wasm',
      globals,
      unwind: buffer ? ownBuffer(m) : { start: initial * PAGE, end: pages * PAGE },
      ...(facts.exports.some((e) => e.name === '__stack_low') && facts.exports.some((e) => e.name === '__stack_high')
        ? { stack: { low: exportedAddress(m, '__stack_low'), high: exportedAddress(m, '__stack_high') } }
        : {}),
      memory,
      suspending,
    };
    // An empty list would mean "every import".
    binaryen.setPassArgument('asyncify-imports', suspending.length > 0 ? suspending.join(',') : 'mayfly.none');
    const removed = neverReachingMpi(m, options.neverSuspending ?? []);
    if (removed.length > 0) binaryen.setPassArgument('asyncify-removelist', removed.join(','));
    m.runPasses(['asyncify']);
    let out = m.emitBinary();
    const lines = lineSection(wasm, facts, out);
    if (lines !== undefined) out = withCustomSection(out, LINES, lines);
    return { wasm: withCustomSection(out, SECTION, new TextEncoder().encode(JSON.stringify(info))), info };
  } catch (error) {
    // A defect of Binaryen's, or of ours: the module is the one that cannot be had, everything else goes on.
    if (error instanceof ModuleError) throw error;
    throw new ModuleError('INVALID', `The module cannot be instrumented: ${(error as Error).message}`);
  } finally {
    m?.dispose();
    binaryen.clearPassArguments();
  }
}

const FEATURES =
  binaryen.Features.MutableGlobals |
  binaryen.Features.NontrappingFPToInt |
  binaryen.Features.SIMD128 |
  binaryen.Features.BulkMemory |
  binaryen.Features.BulkMemoryOpt |
  binaryen.Features.SignExt |
  binaryen.Features.ReferenceTypes |
  binaryen.Features.Multivalue |
  binaryen.Features.ExtendedConst |
  binaryen.Features.CallIndirectOverlong;

/** All refusals but those of memory limits. */
function checkedFacts(wasm: Uint8Array): ModuleFacts {
  const facts = readModule(wasm);
  if (facts.memory === undefined)
    throw new ModuleError('NO_MEMORY', 'The module has no memory: so it is not a C or C++ program.');
  if (facts.memory.shared)
    throw new ModuleError(
      'THREADS',
      'The memory of the module is shared among threads; a rank has one thread. Build it without -pthread.',
    );
  for (const i of facts.imports) {
    if (i.kind === 'memory' || i.kind === 'table' || i.kind === 'global' || i.kind === 'tag')
      throw new ModuleError(
        'IMPORTED_STATE',
        `The module imports the ${i.kind} ${i.module}.${i.name}; a program has its own (link it as a ` +
          'command, not as a library).',
      );
    const known =
      isAllowed(i) ||
      (i.module === SECTION && (i.name === 'grow' || i.name === 'thrown')) ||
      (isInvoke(i) && facts.exports.some((e) => e.name === FLAG && e.kind === 'global'));
    if (!known)
      throw new ModuleError(
        'UNKNOWN_IMPORT',
        `The module imports ${i.module}.${i.name}, which ranks do not have: allowed imports are MPI ` +
          'functions (env) and WASI preview 1.',
      );
  }
  const exported = (name: string, kind: string): boolean =>
    facts.exports.some((e) => e.name === name && e.kind === kind);
  if (facts.sections.some((s) => s.id === 8))
    throw new ModuleError(
      'START_FUNCTION',
      'The module has a start function, which would run again at each restart; a WASI command exports _start instead.',
    );
  if (!exported('_start', 'function'))
    throw new ModuleError('NO_START', 'The module does not export _start: so it is not a WASI command.');
  if (!exported('memory', 'memory')) throw new ModuleError('NO_MEMORY', 'The module does not export its memory.');
  // Last: what is not allowed has got its own name by now, also where this engine does not know it.
  if (!engine.validate(wasm))
    throw new ModuleError('INVALID', 'The module is damaged, or uses features that this engine does not support.');
  return facts;
}

function readInfo(json: Uint8Array, facts: ModuleFacts, maxPages: number): ModuleInfo {
  const damaged = (what: string): ModuleError =>
    new ModuleError('DAMAGED_SECTION', `The module says that it is instrumented, but ${what}. Build it again.`);
  let info: ModuleInfo;
  try {
    info = JSON.parse(new TextDecoder().decode(json)) as ModuleInfo;
  } catch {
    throw damaged('its section cannot be read');
  }
  if (info?.version !== SECTION_VERSION)
    throw damaged(`by another version of the toolchain (${String(info?.version)})`);
  const exported = new Set(facts.exports.map((e) => `${e.kind} ${e.name}`));
  for (const name of ['start_unwind', 'stop_unwind', 'start_rewind', 'stop_rewind', 'get_state'])
    if (!exported.has(`function asyncify_${name}`)) throw damaged(`it has no asyncify_${name}`);
  if (!Array.isArray(info.globals) || !info.globals.every((g) => exported.has(`global ${g?.name}`)))
    throw damaged('a global is missing');
  const { start, end } = info.unwind ?? {};
  if (
    !Number.isSafeInteger(start) ||
    !Number.isSafeInteger(end) ||
    start < 16 ||
    end <= start + 16 ||
    end > facts.memory!.initial * PAGE
  )
    throw damaged('the place of the unwound stack lies outside of the memory');
  if (info.memory?.initial !== facts.memory!.initial || info.memory?.maximum !== facts.memory!.maximum)
    throw damaged('its memory is another');
  if (info.memory.initial > maxPages)
    throw new ModuleError(
      'MEMORY_LIMIT',
      `The module starts with ${Math.ceil(info.memory.initial / 16)} MB of memory; the job allows ` +
        `${Math.floor(maxPages / 16)} MB.`,
    );
  return info;
}

type Module = InstanceType<typeof binaryen.Module>;

const TYPES = new Map<number, GlobalType>([
  [binaryen.i32, 'i32'],
  [binaryen.i64, 'i64'],
  [binaryen.f32, 'f32'],
  [binaryen.f64, 'f64'],
  [binaryen.v128, 'v128'],
]);

function exportGlobals(m: Module): ModuleInfo['globals'] {
  const globals: { name: string; type: GlobalType }[] = [];
  for (let i = 0; i < m.getNumGlobals(); i++) {
    const g = binaryen.getGlobalInfo(m.getGlobalByIndex(i));
    if (!g.mutable) continue;
    const type = TYPES.get(g.type);
    if (type === undefined || type === 'v128')
      throw new ModuleError(
        'UNSUPPORTED_FEATURE',
        'The module has a mutable global that holds a reference or a vector, which no image can keep.',
      );
    const name = `mayfly.global.${globals.length}`;
    m.addGlobalExport(g.name, name);
    globals.push({ name, type });
  }
  return globals;
}

/**
 * `memory.grow` asks the host, which answers for the job's limit; `memory.size` of a foreign module hides the pages
 * added for unwinding.
 */
function replaceMemoryCalls(
  m: Module,
  edited: { grow: number | undefined; size: number | undefined },
  pages: { old: number; now: number } | undefined,
): void {
  const replace = (index: number, parameters: number, body: (m: Module) => number): void => {
    const { name } = binaryen.getFunctionInfo(m.getFunctionByIndex(index));
    m.removeFunction(name);
    m.addFunction(name, parameters, binaryen.i32, [], body(m));
  };
  // Binaryen lists the defined functions in their order behind the imports; the added ones are the last.
  const last = m.getNumFunctions() - 1;
  const growAt = edited.grow === undefined ? undefined : edited.size === undefined ? last : last - 1;
  const growName = growAt === undefined ? '' : binaryen.getFunctionInfo(m.getFunctionByIndex(growAt)).name;
  if (edited.size !== undefined)
    replace(last, binaryen.none, () =>
      m.select(m.i32.eq(m.memory.size(), m.i32.const(pages!.now)), m.i32.const(pages!.old), m.memory.size()),
    );
  if (edited.grow === undefined) return;
  m.addFunctionImport('mayfly.grow', SECTION, 'grow', binaryen.i32, binaryen.i32);
  m.removeFunction(growName);
  m.addFunction(
    growName,
    binaryen.i32,
    binaryen.i32,
    [],
    m.call('mayfly.grow', [m.local.get(0, binaryen.i32)], binaryen.i32),
  );
}

function ownBuffer(m: Module): { start: number; end: number } {
  const [start, end] = [exportedAddress(m, 'mayfly_unwind_buffer'), exportedAddress(m, 'mayfly_unwind_end')];
  if (!(start > 0 && end > start))
    throw new ModuleError('INVALID', 'mayfly_unwind_buffer and mayfly_unwind_end enclose no memory.');
  return { start, end };
}

function exportedAddress(m: Module, name: string): number {
  const g = binaryen.getGlobalInfo(m.getGlobal(binaryen.getExportInfo(m.getExport(name)).value));
  const { value } = binaryen.getExpressionInfo(g.init) as unknown as { value?: unknown };
  if (typeof value !== 'number') throw new ModuleError('INVALID', `The export ${name} is not an address.`);
  return value;
}

/** Names and patterns that match a function (Binaryen complains of others). */
function neverReachingMpi(m: Module, patterns: readonly string[]): string[] {
  const all = new Set<string>();
  for (let i = 0; i < m.getNumFunctions(); i++) all.add(binaryen.getFunctionInfo(m.getFunctionByIndex(i)).name);
  const matches = (pattern: string): boolean => {
    const parts = new RegExp(
      `^${pattern
        .split('*')
        .map((p) => p.replace(/[^\w]/g, '\\$&'))
        .join('.*')}$`,
    );
    return [...all].some((name) => parts.test(name));
  };
  // A stream of the program's own functions may do anything.
  return [...(all.has('fopencookie') ? [] : STDIO_WRITERS.filter((w) => all.has(w))), ...patterns.filter(matches)];
}
