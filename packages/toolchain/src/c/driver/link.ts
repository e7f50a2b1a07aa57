/**
 * The link: wasm-ld with our start files and libraries, tentative definitions merged, what is missing explained, the
 * module instrumented.
 */
import { absolute } from '../files.ts';
import { instrument, type SourceLanguage } from '../instrument.ts';
import { untouchedParts } from '../library-parts.ts';
import { SYSROOT } from '../llvm.ts';
import { mismatched } from '../mismatch.ts';
import { resources } from '../resources.ts';
import { ModuleError } from '../wasm-module.ts';
import type { Arguments, Input } from './arguments.ts';
import { compatOfC, compatOfLibrary, compatOfMain } from './compat.ts';
import { mixedWidths } from './long64/mark.ts';
import { type DriverRun, TEMPORARY } from './run.ts';
import { weakenTentative } from './tentative.ts';
import { explainUndefined } from './undefined.ts';

const LIB = `${SYSROOT}/lib/wasm32-wasip1`;
const STACK_BYTES = 4 << 20;
/** 2 GB: beyond, addresses turn negative in programs that keep them in an int. The job's own limit stands below. */
const MAX_MEMORY = 2 ** 31;

/**
 * What clang calls `int main(int, char **)` and `int main(void)`. libc has a `__main_void` of its own, which calls the
 * other one. A main() with another number of parameters stays `main`, and compat/main.c calls it.
 */
const MAIN = ['__main_argc_argv', '__main_void'] as const;
const OTHER_MAIN = 'main';
const TRACE = /^.*: (?:lazy definition|definition|reference) (?:of|to) (?:__main_argc_argv|__main_void|main)\n/gm;
const defines = (traced: string, names: readonly string[]): boolean =>
  traced.split('\n').some((l) => {
    const name = /: definition of (\w+)$/.exec(l)?.[1];
    return name !== undefined && names.includes(name) && !l.startsWith(`${LIB}/libc.a(`);
  });
const hasMain = (traced: string): boolean => defines(traced, MAIN);
const hasOtherMain = (traced: string): boolean => !hasMain(traced) && defines(traced, [OTHER_MAIN]);

export function link(run: DriverRun, args: Arguments, objectOf: (input: Input) => string): number {
  const cxx = args.cxxLibrary || args.inputs.some((i) => i.kind === 'c++');
  run.temporary.write('/mpi-names', new TextEncoder().encode(resources().mpiNames.join('\n')));
  let own = compatOfC(run, args.unwindBytes);
  const libraries = args.standardLibrary ? compatOfLibrary(run, cxx) : [];
  let objects = args.inputs.map((i) => (i.kind === 'library' ? `-l${i.path}` : objectOf(i)));
  const missing = args.inputs.filter(
    (i) => i.kind === 'object' && run.files.stat(absolute(run.options.cwd, i.path)) === undefined,
  );
  for (const i of missing) run.say(`${run.options.driver}: error: no such file or directory: '${i.path}'\n`);
  if (missing.length > 0) return 1;

  const mixed = mixedWidths(
    args.inputs.flatMap((i, n) => {
      const bytes = bytesOf(run, objects[n]!, args);
      return bytes === undefined ? [] : [[i.path, bytes] as const];
    }),
  );
  if (mixed !== undefined) {
    run.say(`${run.options.driver}: error: ${mixed}\n`);
    return 1;
  }
  const ld = (kept: readonly string[] = [], wanted: readonly string[] = []): ReturnType<DriverRun['llvm']> => {
    const command = [
      'wasm-ld',
      '-m',
      'wasm32',
      ...args.libraryPaths.map((p) => `-L${p}`),
      `-L${LIB}`,
      `${LIB}/crt1-command.o`,
      ...own,
      ...objects,
      ...libraries,
      ...(cxx ? ['-lc++', '-lc++abi'] : []),
      ...['signal', 'mman', 'process-clocks', 'getpid'].map((n) => `-lwasi-emulated-${n}`),
      '-lc-printscan-long-double',
      '-lc',
      `${SYSROOT}/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a`,
      '--stack-first',
      '-z',
      `stack-size=${STACK_BYTES}`,
      `--max-memory=${MAX_MEMORY}`,
      '--table-base=16',
      '--export-table',
      '--error-limit=0',
      ...['malloc', 'free', 'mayfly_unwind_buffer', 'mayfly_unwind_end'].map((n) => `--export=${n}`),
      ...['__THREW__', '__stack_low', '__stack_high'].map((n) => `--export-if-defined=${n}`),
      `--allow-undefined-file=${TEMPORARY}/mpi-names`,
      ...kept.map((n) => `--export-if-defined=${n}`),
      ...[...MAIN, OTHER_MAIN].map((n) => `--trace-symbol=${n}`),
      ...wanted.map((n) => `--undefined=${n}`),
      ...args.linker,
      '-o',
      `${TEMPORARY}/a.out`,
    ];
    if (args.verbose) run.say(` ${command.map((c) => `"${c}"`).join(' ')}\n`);
    return run.llvm(...command);
  };
  let r = ld();
  const twice = new Set([...text(r.stderr).matchAll(/duplicate symbol: (\S+)/g)].map((m) => m[1]!));
  if (r.exit !== 0 && twice.size > 0) {
    const mended = weakened(run, objects, twice, args);
    if (mended !== undefined) {
      objects = mended;
      r = ld();
    }
  }
  // libc asks for main weakly, and a weak reference takes nothing out of an archive.
  const found = hasMain(text(r.stdout)) || hasOtherMain(text(r.stdout));
  const wanted = r.exit === 0 && !found ? [...MAIN, OTHER_MAIN] : [];
  if (wanted.length > 0) r = ld([], wanted);
  if (r.exit === 0 && hasOtherMain(text(r.stdout))) {
    const before = own;
    for (const parameters of [3, 1] as const) {
      own = [...before, compatOfMain(run, parameters)];
      r = ld([], wanted);
      if (!mismatched(text(r.stderr)).includes(OTHER_MAIN)) break;
    }
  } else if (r.exit === 0 && !hasMain(text(r.stdout))) {
    run.say(
      `wasm-ld: error: undefined symbol: main\n${run.options.driver}: note: main: no object and no library ` +
        `of this command defines it\n`,
    );
    return 1;
  }
  const mismatches = mismatched(text(r.stderr));
  if (r.exit === 0 && mismatches.length > 0) r = ld(mismatches, wanted);
  run.print(text(r.stdout).replace(TRACE, ''));
  run.say(r.exit === 0 ? r.stderr : text(r.stderr) + explainUndefined(text(r.stderr), run.options.driver));
  if (r.exit !== 0) return r.exit;
  const linked = run.temporary.read('/a.out');
  if (linked === undefined) return 0;
  const language: SourceLanguage = cxx ? 'c++' : 'c';
  try {
    const { wasm } = run.options.plain
      ? { wasm: linked }
      : instrument(linked, {
          language,
          neverSuspending: cxx ? untouchedParts(objects.flatMap((o) => bytesOf(run, o, args) ?? [])) : [],
          ...(run.options.maxPages !== undefined && { maxPages: run.options.maxPages }),
        });
    const name = args.output ?? 'a.out';
    const { launcher } = run.options;
    const file = launcher && !name.endsWith('.wasm') ? Buffer.concat([launcher, wasm]) : wasm;
    run.files.write(absolute(run.options.cwd, name), file, true);
    return 0;
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    run.say(`${run.options.driver}: error: ${error.message}\n`);
    return 1;
  }
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/**
 * Of an object or archive of the link line, or a `-l` that is the caller's own; undefined for libraries of the sysroot.
 */
function bytesOf(run: DriverRun, object: string, args: Arguments): Uint8Array | undefined {
  const path = object.startsWith('-l')
    ? args.libraryPaths
        .map((p) => `${p}/lib${object.slice(2)}.a`)
        .find((p) => run.files.stat(absolute(run.options.cwd, p)) !== undefined)
    : object;
  return path === undefined ? undefined : run.files.read(absolute(run.options.cwd, path));
}

/** The link line with copies of those inputs that define a tentative symbol; undefined when there are none. */
function weakened(
  run: DriverRun,
  objects: readonly string[],
  names: ReadonlySet<string>,
  args: Arguments,
): string[] | undefined {
  let any = false;
  const out = objects.map((object, i) => {
    const bytes = bytesOf(run, object, args);
    const copy = bytes && weakenTentative(bytes, names);
    if (copy === undefined) return object;
    any = true;
    const at = `/weak-${i}-${object.startsWith('-l') ? `lib${object.slice(2)}.a` : object.replace(/^.*\//, '')}`;
    run.temporary.write(at, copy);
    return TEMPORARY + at;
  });
  return any ? out : undefined;
}
