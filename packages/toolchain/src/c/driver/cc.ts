/**
 * The compiler drivers' core: what `mayfly mpicc` and `mayfly mpicxx` do with a command line. In process and
 * synchronous; clang keeps warm for as long as the process lives. Files are read when clang asks for them, through the
 * tree that the caller gives.
 *
 * Each source is one run of clang; the link is one run of wasm-ld, whose module is then instrumented (instrument.ts).
 */
import { posix } from 'node:path';
import { absolute, FileError, type FileStat } from '../files.ts';
import { SYSROOT } from '../llvm.ts';
import type { WasiResult } from '../wasi-process.ts';
import { RESOURCES, resources } from '../resources.ts';
import { type Arguments, type Input, parseArguments, UsageError } from './arguments.ts';
import { withoutOwnFiles } from './dependencies.ts';
import { link } from './link.ts';
import { compileWide } from './long64/compile.ts';
import { namesWideDatatypes, wideDatatypes } from './long64/narrow-buffers.ts';
import { widthWarnings } from './long64/warnings.ts';
import { compileCxx, type CxxSource, precompiledFor } from './precompiled/precompiled.ts';
import { type DriverOptions, type DriverResult, DriverRun, TEMPORARY } from './run.ts';

/** With -Wl, before them: so Meson and libtool learn which linker this is. */
const LINKER_QUERY = /^(--version|-v|-V|--help)$/;

export function cc(argv: readonly string[], options: DriverOptions): DriverResult {
  let run: DriverRun | undefined;
  try {
    const args = parseArguments(argv, options.files, options.cwd, options.driver);
    run = new DriverRun(options, args.absolutePrefixes);
    return perform(run, args, argv);
  } catch (error) {
    // A file that cannot be read or written ends this call, and nothing beside it.
    if (!(error instanceof UsageError || error instanceof FileError)) throw error;
    run ??= new DriverRun(options, []);
    run.say(`${options.driver}: error: ${error.message}\n`);
    return run.result(1);
  }
}

function perform(run: DriverRun, args: Arguments, argv: readonly string[]): DriverResult {
  const { options } = run;
  const clangName = options.driver === 'mpicxx' ? 'clang++' : 'clang';
  if (args.show !== undefined) return show(run, args, argv);
  const sources = args.inputs.filter((i) => i.kind !== 'object' && i.kind !== 'library');
  if (args.query || (args.inputs.length === 0 && args.verbose)) {
    const r = run.llvm(clangName, ...args.clang);
    if (args.clang.some((a) => /^--?help$/.test(a))) run.print(ownHelp(options.driver));
    run.print(r.stdout);
    run.say(r.stderr);
    return run.result(r.exit);
  }
  if (args.inputs.length === 0 && args.linker.some((a) => LINKER_QUERY.test(a))) {
    const r = run.llvm('wasm-ld', ...args.linker);
    run.print(r.stdout);
    run.say(r.stderr);
    return run.result(r.exit);
  }
  if (args.inputs.length === 0) {
    run.say(`${options.driver}: error: no input files\n`);
    return run.result(1);
  }
  const compileOnly = args.stage !== 'link';
  if (compileOnly && args.output !== undefined && sources.length > 1 && args.output !== '-') {
    run.say(`${options.driver}: error: cannot specify -o when generating multiple output files\n`);
    return run.result(1);
  }
  const overwritten = inputThatIsOutput(run, args, sources);
  if (overwritten !== undefined) {
    run.say(`${options.driver}: error: input file '${overwritten}' is the same as output file\n`);
    return run.result(1);
  }
  if (sources.length > 0)
    for (const option of args.foreign)
      run.say(
        `${clangName}: warning: optimization flag '${option}' is not supported [-Wignored-optimization-argument]\n`,
      );
  let exit = 0;
  const objects = new Map<Input, string>();
  sources.forEach((source, i) => {
    const path =
      args.stage === 'link' ? `${TEMPORARY}/${i}-${stem(source.path)}.o` : (args.output ?? defaultOutput(args, source));
    const object = args.stage === 'link' || args.stage === 'assemble';
    const flags = clangFlags(args, source, options);
    const action = [
      ...(object ? ['-c'] : []),
      ...dependencyFlags(args, source),
      ...(path === undefined ? [] : ['-o', path]),
    ];
    const c = { clang: clangName, source, flags, action };
    const precompiled = (options: readonly string[]): string | undefined =>
      precompiledHeader(run, args, { clang: clangName, source, options });
    const r = args.long64
      ? compileWide(run, {
          ...c,
          object: object ? path : undefined,
          preprocess: args.stage === 'preprocess',
          options: args.clang,
          precompiled,
        })
      : narrow(run, args, { clang: clangName, flags, source: source.path, object: object ? path : undefined }, () =>
          compileCxx(precompiled(args.clang), (more) => run.llvm(clangName, ...flags, ...more, ...action, source.path)),
        );
    run.print(args.dependencies.kind === 'output' ? withoutOwnFiles(r.stdout) : r.stdout);
    cleanDependencyFile(run, args, source, path);
    run.say(r.stderr);
    if (r.exit !== 0) exit = r.exit;
    objects.set(source, path ?? '');
  });
  if (compileOnly) {
    for (const input of args.inputs)
      if (input.kind === 'object')
        run.say(`${clangName}: warning: ${input.path}: 'linker' input unused [-Wunused-command-line-argument]\n`);
    return run.result(exit);
  }
  if (exit !== 0) return run.result(exit);
  return run.result(link(run, args, (input) => objects.get(input) ?? input.path));
}

/** An input that the call would write over, by whatever path. */
function inputThatIsOutput(run: DriverRun, args: Arguments, sources: readonly Input[]): string | undefined {
  const outputs =
    args.stage === 'link' ? [args.output ?? 'a.out'] : sources.map((s) => args.output ?? defaultOutput(args, s));
  const stat = (path: string): FileStat | undefined => run.files.stat(absolute(run.options.cwd, path));
  const files = outputs.flatMap((path) =>
    path === undefined || path === '-' || path === '/dev/null' ? [] : (stat(path) ?? []),
  );
  return args.inputs.find(({ path, kind }) => {
    const input = kind === 'library' || path === '-' ? undefined : stat(path);
    return files.some((f) => f.id === input?.id && f.device === input.device);
  })?.path;
}

/** The precompiled header for a source of C++, where one changes nothing but the time. */
function precompiledHeader(run: DriverRun, args: Arguments, c: Omit<CxxSource, 'flags'>): string | undefined {
  const { precompiled } = run.options;
  if (precompiled === undefined || args.stage === 'preprocess' || args.verbose) return undefined;
  return precompiledFor(run, precompiled, {
    ...c,
    flags: (options, header, cwd) => clangFlags({ clang: options }, header, { cwd }),
  });
}

/** A compilation with a `long` of 32 bits: warns where the program's text wants 64, and checks buffers. */
function narrow(
  run: DriverRun,
  args: Arguments,
  c: { clang: string; flags: readonly string[]; source: string; object: string | undefined },
  compile: () => WasiResult,
): WasiResult {
  const found = new Map<string, string[]>();
  const silent = args.stage === 'preprocess' || args.clang.includes('-w');
  let wide = false;
  run.onRead = (path, bytes) => {
    if (path.startsWith(RESOURCES)) return;
    wide ||= namesWideDatatypes(bytes);
    if (!silent) found.set(path, widthWarnings(shownPath(run, path), bytes));
  };
  const r = compile();
  run.onRead = () => undefined;
  for (const warning of [...found.values()].flat()) run.say(warning);
  const errors = wide && c.object !== undefined && r.exit === 0 ? wideDatatypes(run, c.clang, c.flags, c.source) : '';
  if (errors === '') return r;
  run.files.remove(absolute(run.options.cwd, c.object!), 'file');
  return { exit: 1, stdout: new Uint8Array(0), stderr: new TextEncoder().encode(errors) };
}

const shownPath = (run: DriverRun, path: string): string => {
  const relative = posix.relative(run.options.cwd, path);
  return relative.startsWith('../') ? path : relative;
};

const stem = (path: string): string => posix.basename(path).replace(/\.[^.]*$/, '') || 'stdin';

function defaultOutput(args: Arguments, source: Input): string | undefined {
  if (args.stage === 'assemble') return `${stem(source.path)}.o`;
  if (args.stage === 'compile' && args.clang.includes('-S')) return `${stem(source.path)}.s`;
  return undefined;
}

/** Where clang writes the rules for make; undefined when they go to the output, or to none. */
function dependencyFile(args: Arguments, source: Input): string | undefined {
  if (args.dependencies.kind !== 'file') return undefined;
  return (
    args.dependencies.path ??
    `${args.output === undefined ? stem(source.path) : args.output.replace(/\.[^./]*$/, '')}.d`
  );
}

/** With -MD and a link in one command, the temporary object must not give the rule its name. */
function dependencyFlags(args: Arguments, source: Input): string[] {
  const file = dependencyFile(args, source);
  if (file === undefined) return [];
  const named = args.clang.some((a) => a === '-MT' || a === '-MQ');
  return ['-MF', file, ...(args.stage === 'link' && !named ? ['-MT', `${stem(source.path)}.o`] : [])];
}

function cleanDependencyFile(run: DriverRun, args: Arguments, source: Input, output: string | undefined): void {
  // -M -MF file -o file: clang takes -MF. -M -o file without it: the output is the list.
  const path = dependencyFile(args, source) ?? (args.dependencies.kind === 'output' ? output : undefined);
  if (path === undefined || path === '-' || path === '/dev/null') return;
  const at = absolute(run.options.cwd, path);
  const bytes = run.options.files.read(at);
  if (bytes !== undefined) run.options.files.write(at, withoutOwnFiles(bytes));
}

/** What every compilation gets, before what the user says. */
export function clangFlags(
  args: Pick<Arguments, 'clang'>,
  source: Pick<Input, 'kind' | 'language'>,
  options: Pick<DriverOptions, 'cwd'>,
): string[] {
  // One list of options may serve sources in both languages (-x c a.c -x c++ b.cc): a standard of the other one is not
  // for this.
  const own = args.clang.filter(
    (a) => source.language === undefined || !a.startsWith('-std=') || a.includes('++') === (source.kind !== 'c'),
  );
  return [
    `--sysroot=${SYSROOT}`,
    '-resource-dir',
    SYSROOT,
    `-fdebug-compilation-dir=${options.cwd}`,
    '-isystem',
    `${RESOURCES}/include`,
    '-isystem',
    `${RESOURCES}/compat/include`,
    ...['SIGNAL', 'MMAN', 'PROCESS_CLOCKS', 'GETPID'].map((name) => `-D_WASI_EMULATED_${name}`),
    ...unixMacros(own),
    // What gcc only warns about, old codes rely on.
    ...(source.kind === 'c'
      ? [
          'implicit-function-declaration',
          'implicit-int',
          'int-conversion',
          'incompatible-function-pointer-types',
          'incompatible-pointer-types',
          'return-mismatch',
        ].map((w) => `-Wno-error=${w}`)
      : []),
    ...(source.kind === 'c++'
      ? ['register', 'reserved-user-defined-literal', 'c++11-narrowing'].map((w) => `-Wno-error=${w}`)
      : []),
    '-Wno-unused-command-line-argument',
    // gcc optimises in its own way with these, and takes them silently.
    '-Wno-ignored-optimization-argument',
    // Every browser with the shared memory that a rank needs has vectors. They compute what scalars compute: nothing is
    // reassociated or fused.
    '-msimd128',
    // Calls that can be left early go through `invoke_…` (invoke.ts). Functions without try, destructors or setjmp are
    // not touched.
    ...(source.kind === 'assembler' ? [] : ['-mllvm', '-enable-emscripten-sjlj']),
    ...(source.kind === 'c++' ? ['-mllvm', '-enable-emscripten-cxx-exceptions'] : []),
    ...(source.language === undefined ? [] : ['-x', source.language]),
    ...own,
  ];
}

/** As gcc defines them: the name without underscores belongs to programs in the modes of the standard. */
function unixMacros(options: readonly string[]): string[] {
  const mode = options.filter((o) => /^(-std=|--std=|-ansi$)/.test(o)).at(-1);
  const strict = mode !== undefined && !/=gnu/.test(mode);
  return ['__unix__', '__unix', ...(strict ? [] : ['unix'])].map((name) => `-D${name}=1`);
}

function show(run: DriverRun, args: Arguments, argv: readonly string[]): DriverResult {
  const { driver, version = 'dev' } = run.options;
  if (args.show === 'version') {
    run.print(`${driver}: Mayfly ${version} (MPI 4.1)\n`);
    return run.result(0);
  }
  const include = `-I${resources().includePath.replace(/\/$/, '')}`;
  const rest = argv.filter((a) => !/^--?show|^-(compile|link)[_-]info$/.test(a));
  const clang =
    `${driver === 'mpicxx' ? 'clang++' : 'clang'} --target=wasm32-wasip1` +
    (rest.some((a) => /^-m(no-)?long64$/.test(a)) ? '' : ' -mlong64');
  run.print(
    `${args.show === 'compile' ? include : args.show === 'link' ? '-lmpi' : [clang, include, ...rest, '-lmpi'].join(' ')}\n`,
  );
  return run.result(0);
}

/** Before clang's own: how this driver differs from it. */
const ownHelp = (driver: string): string => `${driver}: clang for MPI programs that Mayfly runs (wasm32-wasip1)

OPTIONS OF ${driver}:
  -mno-long64             long has 32 bits, as in size_t and pointers. By default (-mlong64) it has 64
  -mno-simd128            No 128-bit vectors
  -show                   Print the command instead of running it
  -compile_info           Print its options for compiling (also --showme:compile)
  -link_info              Print its options for linking (also --showme:link)
  --showme:version        Print the version of Mayfly
  -Wl,-z,stack-size=<N>   Size of the stack, 4 MB by default
  --mayfly-unwind=<N>     Room for the unwound stack, 4 MB by default
Shared libraries, threads and -fsanitize=address do not exist here. Of the following, those for other targets have no
effect; docs/c-programs.md lists what is accepted, ignored and refused.

`;

/** The LLVM tools beside the compilers: ar, ranlib, nm, objdump, size, strip … */
export const TOOLS = [
  'ar',
  'ranlib',
  'nm',
  'objdump',
  'objcopy',
  'size',
  'strip',
  'c++filt',
  'readobj',
  'addr2line',
  'symbolizer',
] as const;

export function llvmTool(
  tool: (typeof TOOLS)[number],
  argv: readonly string[],
  options: Pick<DriverOptions, 'files' | 'cwd' | 'stdin'>,
): DriverResult {
  const run = new DriverRun(
    { ...options, driver: 'mpicc' },
    argv.filter((a) => a.startsWith('/')).map((a) => absolute('/', a)),
  );
  const r = run.llvm(tool, ...argv);
  run.print(r.stdout);
  run.say(r.stderr);
  return run.result(r.exit);
}
