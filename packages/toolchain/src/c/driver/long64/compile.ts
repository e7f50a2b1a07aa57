/**
 * A compilation with `-mlong64`: clang checks the widened program (program-files.ts), its findings are applied
 * (formats.ts), then clang compiles it. Objects get a mark (mark.ts).
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
import type { DriverRun } from '../run.ts';
import { CHECK_FLAGS, type Findings, findingsOf, NOT_FOR_A_CHECK } from './formats.ts';
import { marked } from './mark.ts';
import { taggedHeaders } from './mpi-tags.ts';
import { ProgramFiles } from './program-files.ts';
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
}

export function compileWide(run: DriverRun, c: WideCompilation): WasiResult {
  const r =
    c.source.kind === 'assembler' ? run.llvm(c.clang, ...c.flags, ...c.action, c.source.path) : compiled(run, c);
  const object = r.exit === 0 && c.object !== undefined ? absolute(run.options.cwd, c.object) : undefined;
  const bytes = object === undefined ? undefined : run.files.read(object);
  if (bytes !== undefined) run.files.write(object!, marked(bytes));
  return r;
}

function compiled(run: DriverRun, c: WideCompilation): WasiResult {
  const language = c.source.kind === 'c++' ? 'c++' : 'c';
  const flags = [
    '-include',
    `${RESOURCES}/compat/long64.h`,
    '-Wno-long-long',
    ...c.flags.map((f) => (f.startsWith('-D') && f !== '-D' ? widen(f, { language }) : f)),
  ].map((f, i, all) => (all[i - 1] === '-D' ? widen(f, { language }) : f));
  const open = (parts: boolean): ProgramFiles => new ProgramFiles(run.options.files, { language, parts });
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
  const checked = flags.filter((f) => !NOT_FOR_A_CHECK.test(f));
  let files = open(false);
  if (!c.preprocess) {
    const check = (): Findings =>
      findingsOf(
        new TextDecoder().decode(clang(files, taggedHeaders(), ...checked, ...CHECK_FLAGS).stderr),
        run.options.cwd,
      );
    let findings = check();
    if (findings.refusals.length > 0) {
      files = open(true);
      findings = check();
    }
    if (findings.refusals.length > 0)
      return { exit: 1, stdout: new Uint8Array(0), stderr: new TextEncoder().encode(findings.refusals.join('')) };
    files.settle(findings.edits);
  } else files.settle([]);
  const r = clang(files, undefined, ...flags, ...c.action);
  if (r.exit !== 0) return { ...r, stderr: Buffer.concat([r.stderr, new TextEncoder().encode(explain(r.stderr))]) };
  return r;
}

/** Where two of the program's types have become one, or two that were one are now two. */
function explain(stderr: Uint8Array): string {
  const text = new TextDecoder().decode(stderr);
  const same =
    /^.*error: .*(redefinition|redeclared|redeclaration|cannot be overloaded|generic association|duplicate case).*$/m;
  const notes: string[] = [];
  if (same.test(text) && text.includes('long long'))
    notes.push(
      'with -mlong64, long and long long are one type: leave out the variant for one of them, or compile the whole ' +
        'program with -mno-long64',
    );
  if (/deduced (?:conflicting types|as conflicting).*'unsigned long long'/.test(text) && /'unsigned long'/.test(text))
    notes.push(
      'with -mlong64, size_t keeps 32 bits and is not unsigned long: name the type, as in std::max<size_t>(a, b)',
    );
  return notes.map((n) => `mayfly: note: ${n}\n`).join('');
}
