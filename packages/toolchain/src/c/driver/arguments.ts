/**
 * The command line of a compiler driver, sorted: what clang gets, what the linker gets, what is an input, what is ours.
 * Options that mean nothing on this target but stand in many Makefiles (-march=native, -fPIC, -fopenmp …) are left out;
 * those that ask for what cannot be are refused by name.
 */
import { absolute, type FileTree } from '../files.ts';

export interface Input {
  readonly path: string;
  /** 'object' goes to the linker; the others are compiled. 'library' is -l. */
  readonly kind: 'c' | 'c++' | 'assembler' | 'object' | 'library';
  /** The -x in force, as given. */
  readonly language: string | undefined;
}

export interface Arguments {
  readonly stage: 'preprocess' | 'compile' | 'assemble' | 'link';
  readonly output: string | undefined;
  readonly inputs: readonly Input[];
  /** For clang, in order. */
  readonly clang: readonly string[];
  /** For wasm-ld, in order. */
  readonly linker: readonly string[];
  readonly libraryPaths: readonly string[];
  /** Only answers a question (--version, -print-…): clang alone does it. */
  readonly query: boolean;
  readonly show: 'all' | 'compile' | 'link' | 'version' | undefined;
  readonly debug: boolean;
  readonly verbose: boolean;
  readonly standardLibrary: boolean;
  readonly cxxLibrary: boolean;
  /**
   * What -M and its kin ask for: rules for make in the output, in a file of the object's name, or in the file that -MF
   * names.
   */
  readonly dependencies:
    | { readonly kind: 'none' }
    | { readonly kind: 'output' }
    | { readonly kind: 'file'; readonly path: string | undefined };
  /** `long` has 64 bits in the program (long64/). */
  readonly long64: boolean;
  readonly unwindBytes: number;
  /** Options of other compilers that were left out. */
  readonly foreign: readonly string[];
}

/** Room for the unwound stack: more than the engines' own stacks hold. */
export const DEFAULT_UNWIND_BYTES = 4 << 20;

export class UsageError extends Error {}

/** Options whose value is the next argument (where it is not glued to them). */
const WITH_VALUE = new Set(
  (
    '-o -I -D -U -L -l -x -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix -MF -MT -MQ ' +
    '-MJ -Xclang -Xlinker -Xpreprocessor -Xassembler -mllvm -T -u -z -e ' +
    '-target --target --param -isysroot --sysroot -arch -framework -G -rpath'
  ).split(' '),
);
/**
 * Of these, the ones whose value is a folder or a file: an absolute one is told to the file system (wasi-process.ts).
 */
const PATHS = new Set('-o -I -L -include -imacros -isystem -iquote -idirafter -MF'.split(' '));
const IGNORED =
  /^(-f(no-)?(openmp|openmp-simd|PIC|pic|PIE|pie|plt|lto-partition|semantic-interposition)(=.*)?|-f(wasm|sjlj|seh|dwarf)-exceptions|-qopenmp|-openmp|-pthreads?|-pie|-no-pie|-static|-static-libgcc|-static-libstdc\+\+|-rdynamic|-s|-m(32|64|arch|tune|cpu|fpmath|cmodel|abi|prefer-vector-width)(=.*)?|-m(no-)?(avx|sse|fma|bmi|f16c|aes|popcnt|lzcnt|ssse)\w*(\.\d)?|-mfpu=.*|-mstackrealign|-B.*|-specs=.*|-fuse-ld=.*|-flto(=.*)?|-ffat-lto-objects|-pipe|-j\d*)$/;
/**
 * How gcc optimises or reports, where clang stops at the option or warns. gcc takes them silently, and so does this
 * driver.
 */
const OF_GCC = new RegExp(
  `^(-f(no-)?(${[
    'tree-(?!vectorize$|slp-vectorize$)[\\w-]+',
    'opt-info[\\w-]*',
    'vect-cost-model',
    'simd-cost-model',
    'ipa-[\\w-]+',
    'ira-[\\w-]+',
    'graphite[\\w-]*',
    'sched-?[\\w-]*',
    'sel-sched[\\w-]*',
    'dump-[\\w-]+',
    'var-tracking-[\\w-]+',
    'guess-branch-probability',
    'conserve-stack',
    'stdarg-opt',
    'move-loop-[\\w-]+',
    'loop-(?!interchange$)[\\w-]+',
    'split-(?!stack)[\\w-]+',
    'gcse-[\\w-]+',
  ].join('|')})(=.*)?|-mveclibabi=.*|-m(96|128)bit-long-double)$`,
);
/**
 * How Intel's and NVIDIA's compilers optimise or report. gcc would stop at them; they are left out with clang's
 * warning.
 */
const FOREIGN = new RegExp(
  `^(-x(Host|HOST|AVX|AVX2|SSE\\S*|CORE-\\S+|COMMON-\\S+|MIC-\\S+)|-ax[A-Z]\\S*|-q?opt-\\w+(=.*)?|-qno-\\S+|-fp-model=?.*|-(no-)?ansi-alias|-(no-)?prec-\\w+|-(no-)?vec(-report\\d*)?|-(no-)?ipo?|-fimf-\\S+|-hlist\\S*|-Mvect\\S*|-Minfo\\S*|-fast)$`,
);
/** Of other linkers. */
const IGNORED_LINKER =
  /^(-rpath.*|--?rpath.*|--(enable|disable)-new-dtags|--(no-)?as-needed|--start-group|--end-group|-\(|-\)|-z(relro|now|noexecstack|defs)|--hash-style.*|--export-dynamic|-E|-h|--?soname.*|-Bsymbolic.*|-B(static|dynamic)|-O\d|--sort-common|--build-id.*|-dead_strip|--warn-common|--no-undefined|--eh-frame-hdr|--no-allow-shlib-undefined)$/;
const IGNORED_WITH_VALUE = new Set(
  '-rpath --rpath -rpath-link --rpath-link -soname --soname -h --hash-style'.split(' '),
);
const IGNORED_KEYWORDS = new Set('relro norelro now lazy noexecstack execstack defs origin text notext'.split(' '));
const IGNORED_LIBRARIES = new Set(
  (
    'mpi pmpi mpich mpicxx mpichcxx mpi_cxx open-rte open-pal gomp omp iomp5 gcc gcc_s numa atomic quadmath ' +
    'ssp hwloc dl-compat stdc++fs stdc++exp c++fs c++experimental'
  ).split(' '),
);
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [
    /^(-shared|-dynamiclib|-bundle)$/,
    'a rank is one statically linked module: build a static library (mayfly ar rcs libx.a …) instead of a shared one',
  ],
  [/^-mrelaxed-simd$/, 'relaxed SIMD gives other results on other machines; use -msimd128'],
  [/^(-fplugin|-fpass-plugin|-load)(=.*)?$/, 'plugins cannot be loaded'],
  [
    /^-fprofile-(generate|use|instr-generate).*|^--coverage$|^-fprofile-arcs$|^-ftest-coverage$/,
    'profiles cannot be written by a rank',
  ],
  [
    /^-fsanitize-recover(=.*)?$/,
    'a check that fails ends the rank by a trap: there is no run-time library to go on with',
  ],
];
/** The sanitizer's checks that need no run-time library: each ends in a trap, whose stack names the place. */
const TRAPPING = new Set(
  (
    'undefined null alignment bounds array-bounds local-bounds bool builtin enum float-cast-overflow ' +
    'float-divide-by-zero integer-divide-by-zero implicit-conversion implicit-integer-truncation integer ' +
    ('nonnull-attribute nullability object-size pointer-overflow return returns-nonnull-attribute shift ' +
      'shift-base shift-exponent signed-integer-overflow unreachable unsigned-integer-overflow vla-bound')
  ).split(' '),
);

export function parseArguments(
  argv: readonly string[],
  files: FileTree,
  cwd: string,
  driver: 'mpicc' | 'mpicxx',
): Arguments & { readonly absolutePrefixes: readonly string[] } {
  const args = expand(argv, files, cwd, 0);
  const inputs: Input[] = [];
  const clang: string[] = [];
  const linker: string[] = [];
  const libraryPaths: string[] = [];
  const prefixes: string[] = [];
  const foreign: string[] = [];
  let stage: Arguments['stage'] = 'link';
  let output: string | undefined;
  let language: string | undefined;
  let query = false;
  let show: Arguments['show'];
  let debug = false;
  let verbose = false;
  let standardLibrary = true;
  let cxxLibrary = driver === 'mpicxx';
  let dependencies: 'none' | 'output' | 'file' = 'none';
  let dependencyFile: string | undefined;
  let long64 = true;
  // More than the stacks of the engines hold: a frame takes no more room here than there.
  let unwindBytes = DEFAULT_UNWIND_BYTES;

  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (!arg.startsWith('-') || arg === '-') {
      inputs.push({ path: arg, kind: kindOf(arg, language, driver), language });
      if (arg.startsWith('/')) prefixes.push(arg);
      continue;
    }
    const refused = REFUSED.find(([pattern]) => pattern.test(arg));
    if (refused !== undefined) throw new UsageError(`unsupported option '${arg}': ${refused[1]}`);
    const checks = /^-fsanitize=(.*)$/.exec(arg)?.[1]?.split(',');
    if (checks !== undefined) {
      const other = checks.find((c) => !TRAPPING.has(c));
      if (other !== undefined)
        throw new UsageError(
          `unsupported option '${arg}': the sanitizer '${other}' has no run-time library on wasm; ` +
            '-fsanitize=undefined traps',
        );
      clang.push(arg, `-fsanitize-trap=${checks.join(',')}`);
      continue;
    }
    if (IGNORED.test(arg) || OF_GCC.test(arg)) continue;
    if (FOREIGN.test(arg)) {
      foreign.push(arg);
      if (arg === '-fp-model') i++;
      continue;
    }
    const short = arg.slice(0, 2);
    // MPICH's question begins as the option of a library does.
    const option =
      WITH_VALUE.has(arg) || /^-link[_-]info$/.test(arg)
        ? arg
        : ['-o', '-I', '-D', '-U', '-L', '-l', '-x', '-z'].includes(short) && arg.length > 2
          ? short
          : arg;
    // By this way clang would compile OpenMP, and CMake finds it then, but nothing links.
    if (/^-X(clang|preprocessor)$/.test(arg) && /^-fopenmp/.test(args[i + 1] ?? '')) {
      i++;
      continue;
    }
    let value = '';
    if (WITH_VALUE.has(option)) {
      if (option === arg) {
        if (i + 1 >= args.length) throw new UsageError(`argument to '${arg}' is missing (expected 1 value)`);
        value = args[++i]!;
      } else value = arg.slice(2);
      if (PATHS.has(option) && value.startsWith('/')) prefixes.push(value);
    }
    switch (option) {
      case '-o':
        output = value;
        break;
      case '-c':
        stage = 'assemble';
        break;
      case '-S':
        stage = 'compile';
        clang.push(arg);
        break;
      case '-E':
        stage = 'preprocess';
        clang.push(arg);
        break;
      case '-M':
      case '-MM':
        stage = 'preprocess';
        dependencies = 'output';
        clang.push(arg);
        break;
      case '-fsyntax-only':
        stage = 'compile';
        clang.push(arg);
        break;
      case '-MD':
      case '-MMD':
        dependencies = 'file';
        clang.push(arg);
        break;
      case '-MF':
        dependencyFile = value;
        break;
      case '-x':
        language = value === 'none' ? undefined : value;
        break;
      case '-L':
        libraryPaths.push(value);
        break;
      case '-l':
        if (value === 'stdc++' || value === 'c++' || value === 'c++abi' || value === 'supc++') cxxLibrary = true;
        else if (!IGNORED_LIBRARIES.has(value)) inputs.push({ path: value, kind: 'library', language });
        break;
      case '-Xlinker':
        linker.push(value);
        break;
      case '-u':
        linker.push(`--undefined=${value}`);
        break;
      case '-z':
        linker.push('-z', value);
        break;
      case '-T':
      case '-arch':
      case '-framework':
      case '-rpath':
      case '-G':
      case '-target':
      case '--target':
      case '-isysroot':
      case '--sysroot':
        break;
      case '-e':
        linker.push(`--entry=${value}`);
        break;
      case '-mlong64':
      case '-mno-long64':
        long64 = option === '-mlong64';
        break;
      case '-v':
        verbose = true;
        clang.push(arg);
        break;
      case '-###':
        verbose = true;
        break;
      case '-nostdlib':
      case '-nodefaultlibs':
        standardLibrary = false;
        break;
      case '-nostartfiles':
        break;
      case '--showme':
      case '-showme':
      case '-show':
        show = 'all';
        break;
      case '--showme:compile':
      case '-showme:compile':
      case '-compile_info':
      case '-compile-info':
        show = 'compile';
        break;
      case '--showme:link':
      case '-showme:link':
      case '-link_info':
      case '-link-info':
        show = 'link';
        break;
      case '--showme:version':
      case '-showme:version':
        show = 'version';
        break;
      default:
        if (arg.startsWith('-Wl,')) linker.push(...arg.slice(4).split(','));
        else if (/^--mayfly-unwind=\d+$/.test(arg))
          unwindBytes = Math.min(Math.max(Number(arg.slice(16)), 4096), 1 << 28);
        else if (
          /^(--version|-dumpversion|-dumpmachine|-dumpfullversion|--help|-help|-print-.*|--print-.*)$/.test(arg)
        ) {
          query = true;
          clang.push(arg);
        } else if (/^(--target=|--sysroot=)/.test(arg)) break;
        else {
          if (/^-g(?!0)/.test(arg) && !arg.startsWith('-gcc')) debug = true;
          if (arg === '-g0') debug = false;
          clang.push(arg);
          if (option === arg && WITH_VALUE.has(option)) clang.push(value);
        }
    }
  }
  return {
    stage,
    output,
    inputs,
    clang,
    linker: linkerOptions(linker),
    libraryPaths,
    query,
    show,
    debug,
    verbose,
    standardLibrary,
    cxxLibrary,
    dependencies:
      dependencies === 'none'
        ? { kind: 'none' }
        : dependencies === 'output' && dependencyFile === undefined
          ? { kind: 'output' }
          : { kind: 'file', path: dependencyFile },
    long64,
    unwindBytes,
    foreign,
    absolutePrefixes: prefixes,
  };
}

function linkerOptions(all: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < all.length; i++) {
    const option = all[i]!;
    const value = all[i + 1];
    if (option === '-z' && value !== undefined) {
      i++;
      if (!IGNORED_KEYWORDS.has(value)) out.push(option, value);
    } else if (IGNORED_WITH_VALUE.has(option)) i++;
    else if (!IGNORED_LINKER.test(option)) out.push(option);
  }
  return out;
}

function kindOf(path: string, language: string | undefined, driver: 'mpicc' | 'mpicxx'): Input['kind'] {
  if (language !== undefined)
    return language.startsWith('assembler') ? 'assembler' : language.startsWith('c++') ? 'c++' : 'c';
  if (path === '-') return driver === 'mpicxx' ? 'c++' : 'c';
  const extension = /\.([^./]+)$/.exec(path)?.[1] ?? '';
  if (['cc', 'cpp', 'cxx', 'C', 'c++', 'cp', 'CPP', 'ii', 'hpp', 'hh'].includes(extension)) return 'c++';
  if (['c', 'i', 'h'].includes(extension)) return driver === 'mpicxx' ? 'c++' : 'c';
  if (extension === 's' || extension === 'S') return 'assembler';
  if (/\.so(\.[\d.]+)?$|\.dylib$|\.dll$/.test(path))
    throw new UsageError(`${path}: a shared library cannot be linked: a rank is one statically linked module`);
  return 'object';
}

/** Response files: one level of quoting as gcc has it, `@` inside them too. */
function expand(argv: readonly string[], files: FileTree, cwd: string, depth: number): string[] {
  return argv.flatMap((arg) => {
    if (!arg.startsWith('@') || depth > 8) return [arg];
    const bytes = files.read(absolute(cwd, arg.slice(1)));
    if (bytes === undefined) return [arg];
    const words = [
      ...new TextDecoder().decode(bytes).matchAll(/(?:"(?:[^"\\]|\\[^])*"|'[^']*'|\\[^]|[^\s"'\\])+/g),
    ].map((m) =>
      m[0].replace(
        /"((?:[^"\\]|\\[^])*)"|'([^']*)'|\\([^])/g,
        (_all, double: string | undefined, single: string | undefined, escaped: string | undefined) =>
          double !== undefined ? double.replace(/\\([^])/g, '$1') : (single ?? escaped ?? ''),
      ),
    );
    return expand(words, files, cwd, depth + 1);
  });
}
