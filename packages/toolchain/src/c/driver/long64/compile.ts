/**
 * A compilation with `-mlong64`: clang shows where sizes become 64 bits wide, and their operands are edited (sizes.ts).
 * Then it checks the widened program (program-files.ts) while it compiles it (once.ts). If it finds something, clang
 * checks the program alone, the findings are applied (formats.ts), and clang compiles it. Objects get a mark (mark.ts).
 *
 * Why so: the target's `long` has 32 bits, which no option of clang changes, and the system root exists for this
 * target only. SPIR is the one target of clang with pointers of 32 bits and a `long` of 64, but it calls functions in
 * another way and has other types for `size_t`. A 64-bit system root would have to be compiled from its sources, and
 * its pointers take twice the memory.
 */
import { absolute, type FileTree } from '../../files.ts';
import { RESOURCES } from '../../resources.ts';
import type { WasiResult } from '../../wasi-process.ts';
import type { Input } from '../arguments.ts';
import { compileCxx, refuses } from '../precompiled/precompiled.ts';
import { type DriverRun, TEMPORARY } from '../run.ts';
import { CHECK_FLAGS, type Findings, findingsOf, NOT_FOR_A_CHECK } from './formats.ts';
import { marked } from './mark.ts';
import { taggedHeaders } from './mpi-tags.ts';
import { ProgramFiles } from './program-files.ts';
import { mayBeOnce, once } from './once.ts';
import { pastingHeader } from './pasting.ts';
import { type Repeated, repeatedIn, warningOf } from './repeated.ts';
import { DUMP_FLAGS, ofBuffers, type Sizes, sizesIn } from './sizes.ts';
import { widen } from './widen.ts';

export interface WideCompilation {
  readonly clang: string;
  readonly source: Input;
  /** All options but those that say what to do and where to write. */
  readonly flags: readonly string[];
  /** These. */
  readonly action: readonly string[];
  /** What of the action is written: an object. */
  readonly object: string | undefined;
  /** Only the preprocessor runs: it knows no types. */
  readonly preprocess: boolean;
  /** The user's. */
  readonly options: readonly string[];
  /** The path of a precompiled header for these options (precompiled.ts). It holds nothing that is rewritten. */
  readonly precompiled: (options: readonly string[]) => string | undefined;
}

export function compileWide(run: DriverRun, c: WideCompilation): WasiResult {
  const r =
    c.source.kind === 'assembler' ? run.llvm(c.clang, ...c.flags, ...c.action, c.source.path) : compiled(run, c);
  const object = r.exit === 0 && c.object !== undefined ? absolute(run.options.cwd, c.object) : undefined;
  const bytes = object === undefined ? undefined : run.files.read(object);
  if (bytes !== undefined) run.files.write(object!, marked(bytes));
  return r;
}

/** How often clang may find further declarations that stand there for both types. */
const MAX_ROUNDS = 6;

function compiled(run: DriverRun, c: WideCompilation): WasiResult {
  let change = NO_CHANGE;
  let buffers: Sizes['wraps'] = new Map();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { result, repeated, pasting, wraps } = attempt(run, c, change);
    const wrapped = wraps.size > 0;
    if (repeated.length > 0) change = { ...change, omitted: [...change.omitted, ...repeated] };
    else if (change.pasting.size < pasting.size) change = { ...change, pasting };
    else if (result.exit !== 0 && wrapped) {
      change = { ...change, wraps: false };
      buffers = ofBuffers(wraps);
    } else if (result.exit === 0 || (isNone(change) && buffers.size === 0)) {
      const warnings = change.omitted.map(warningOf);
      if (!change.wraps && result.exit === 0) warnings.push(narrowSizes(c));
      return c.flags.includes('-w') ? result : withText(result, warnings.join(''), 'before');
    } else break;
  }
  // What is left is worse: the first errors are those to see, and a buffer of sizes is none.
  return attempt(run, c, undefined, buffers).result;
}

const narrowSizes = (c: WideCompilation): string =>
  `${c.source.path}: warning: arithmetic of size_t has 32 bits in this file, also where its result has 64: convert its ` +
  `operands first where they may be negative, as in (long)n [-mlong64]\n`;

/** What is changed in the texts beyond the types. */
interface Change {
  readonly omitted: readonly Repeated[];
  readonly pasting: ReadonlySet<string>;
  /** Whether operands of type `size_t` get their 64 bits (sizes.ts). */
  readonly wraps: boolean;
}

const NO_CHANGE: Change = { omitted: [], pasting: new Set(), wraps: true };
const isNone = ({ omitted, pasting }: Change): boolean => omitted.length === 0 && pasting.size === 0;

interface Attempt {
  readonly result: WasiResult;
  /** What to leave out in the next attempt; then the result is not for the user. */
  readonly repeated: readonly Repeated[];
  /** Macros whose calls the next attempt changes. */
  readonly pasting: ReadonlySet<string>;
  readonly wraps: Sizes['wraps'];
}

/** @param change undefined: it is the last attempt, with these functions */
function attempt(run: DriverRun, c: WideCompilation, change?: Change, last: Sizes['wraps'] = new Map()): Attempt {
  const language = c.source.kind === 'c++' ? 'c++' : 'c';
  const { cwd } = run.options;
  const { omitted, pasting, wraps } = change ?? { ...NO_CHANGE, wraps: false };
  const header = `${TEMPORARY}/pasting.h`;
  if (pasting.size > 0) run.temporary.write('/pasting.h', pastingHeader());
  const flags = [
    ...['-include', `${RESOURCES}/compat/long64.h`],
    ...(pasting.size > 0 ? ['-include', header] : []),
    '-Wno-long-long',
    ...widenMacros(c.flags, language),
  ];
  let sizes: Sizes = { wraps: last, warnings: [] };
  const open = (parts: boolean): ProgramFiles => {
    const files = new ProgramFiles(run.options.files, { language, parts, pasting }, omitted);
    if (sizes.wraps.size > 0) files.wrap(sizes.wraps);
    return files;
  };
  const clang = (files: ProgramFiles, headers: FileTree | undefined, ...more: string[]): WasiResult =>
    run.llvmOver(
      {
        base: files,
        stdin: run.options.stdin === undefined ? undefined : files.standardInput(run.options.stdin),
        ...(headers && { headers }),
      },
      c.clang,
      ...more,
      c.source.path,
    );
  let files = open(false);
  const done = (result: WasiResult): Attempt => ({
    result: c.flags.includes('-w') ? result : withText(result, sizes.warnings.join('')),
    repeated: [],
    pasting: files.pastingLong(),
    wraps: sizes.wraps,
  });
  if (c.preprocess) {
    files.settle([]);
    return { result: clang(files, undefined, ...flags, ...c.action), repeated: [], pasting, wraps: last };
  }
  let precompiled = c.precompiled(widenMacros(c.options, language));
  const checked = flags.filter((f) => !NOT_FOR_A_CHECK.test(f));
  /** A run whose exit code and messages the user does not see as they are. */
  const inner = (...options: readonly string[]): WasiResult => {
    const run = (...more: string[]): WasiResult => clang(files, taggedHeaders(), ...options, ...more);
    const r = precompiled === undefined ? run() : run('-include-pch', precompiled);
    if (precompiled === undefined || !refuses(r, precompiled)) return r;
    precompiled = undefined;
    return run();
  };
  const check = (): Findings => {
    files.mark(true);
    return findingsOf(new TextDecoder().decode(inner(...checked, ...CHECK_FLAGS).stderr), cwd);
  };
  const repeatedOf = (r: WasiResult): readonly Repeated[] => {
    if (change === undefined || r.exit === 0) return [];
    const found = repeatedIn(new TextDecoder().decode(r.stderr), cwd);
    return files.canOmit(found) ? found : [];
  };
  if (wraps) {
    files.mark(false);
    const r = inner(...checked, ...DUMP_FLAGS);
    const repeated = repeatedOf(r);
    // What it finds lies at places of a text without functions.
    if (repeated.length > 0 || files.pastingLong().size > pasting.size) return { ...done(r), repeated };
    // An error may be a `static_assert` that only they fulfil.
    sizes = sizesIn(new TextDecoder().decode(r.stdout), cwd, (path) => files.textOf(path));
    if (sizes.wraps.size > 0) files.wrap(sizes.wraps);
  }
  let findings: Findings | undefined;
  let compiled = false;
  if (mayBeOnce(c.options)) {
    // In C++, the attributes for functions that pass a format on make errors (formats.ts).
    files.mark(language === 'c');
    const { result, messages, ...o } = once(inner, { flags, action: c.action, cwd });
    // Those attributes move columns.
    const repeated = language === 'c' ? [] : repeatedOf(result);
    if (repeated.length > 0) return { ...done(result), repeated };
    compiled = result.exit === 0;
    findings = language === 'c' || !files.passesFormats ? o.findings : check();
    if (compiled && isEmpty(findings) && messages !== undefined)
      return done({ ...result, stderr: new TextEncoder().encode(messages) });
  }
  findings ??= check();
  if (findings.refusals.length > 0) {
    files = open(true);
    findings = check();
  }
  if (findings.refusals.length > 0) {
    if (compiled) remove(run, c.action);
    return done({ exit: 1, stdout: new Uint8Array(0), stderr: new TextEncoder().encode(findings.refusals.join('')) });
  }
  files.settle(findings.edits);
  const r = compileCxx(precompiled, (more) => clang(files, undefined, ...flags, ...more, ...c.action));
  const repeated = repeatedOf(r);
  if (repeated.length > 0 || r.exit === 0) return { ...done(r), repeated };
  const stderr = new TextDecoder().decode(r.stderr);
  const narrow = (): WasiResult =>
    run.llvm(
      c.clang,
      ...c.flags.filter((f) => !NOT_FOR_A_CHECK.test(f)),
      ...(precompiled === undefined ? [] : ['-include-pch', precompiled]),
      '-fsyntax-only',
      '-w',
      c.source.path,
    );
  const mayBeWidth = files.differs && r.exit === 1 && !stderr.includes(': fatal error: ');
  return done(withText(r, mayBeWidth && narrow().exit === 0 ? explanation(stderr) : ''));
}

function withText(r: WasiResult, text: string, where: 'before' | 'after' = 'after'): WasiResult {
  if (text === '') return r;
  const bytes = new TextEncoder().encode(text);
  return { ...r, stderr: Buffer.concat(where === 'before' ? [bytes, r.stderr] : [r.stderr, bytes]) };
}

/** What a run has written before the refusal was known. */
function remove(run: DriverRun, action: readonly string[]): void {
  const path = action[action.indexOf('-o') + 1];
  if (!action.includes('-o') || path === undefined || path === '-') return;
  if (run.files.stat(absolute(run.options.cwd, path))?.kind === 'file')
    run.files.remove(absolute(run.options.cwd, path), 'file');
}

const isEmpty = (f: Findings): boolean => f.edits.length === 0 && f.refusals.length === 0;

/** Macros of the command line are texts of the program, too. */
const widenMacros = (flags: readonly string[], language: 'c' | 'c++'): string[] =>
  flags.map((f, i) => (flags[i - 1] === '-D' || (f.startsWith('-D') && f !== '-D') ? widen(f, { language }) : f));

/** Of errors that a `long` of 32 bits does not have: where two types have become one, or one has become two. */
function explanation(stderr: string): string {
  const same =
    /^.*error: .*(redefinition|redeclared|redeclaration|cannot be overloaded|duplicate explicit instantiation|generic association|duplicate case).*$/m;
  const why =
    same.test(stderr) && stderr.includes('long long')
      ? 'long and long long are one type: leave out the variant for one of them'
      : /'(unsigned )?long long'/.test(stderr) && /'(unsigned )?long'|size_t|ptrdiff_t/.test(stderr)
        ? 'size_t and ptrdiff_t keep 32 bits and are not long: name the type, as in std::max<size_t>(a, b)'
        : 'size_t, ptrdiff_t and pointers keep 32 bits';
  return (
    `mayfly: note: this file compiles with a long of 32 bits. With one of 64 bits, ${why}; or compile the whole ` +
    `program with -mno-long64\n`
  );
}
