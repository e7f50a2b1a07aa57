/**
 * The options of the compiler that a submission may have. An allow-list: what is not here is refused by name. Paths
 * stay inside the submission (clang could not read anything else anyway: this only gives a better message).
 * docs/programs.md describes it for users.
 */
import { posix } from 'node:path';
import { MayflyError } from '@mayfly/wire';

/** Their value may be the next word. */
const JOINED = new Set(['-I', '-D', '-U', '-l', '-x', '-z', '-include', '-iquote', '-isystem', '-idirafter']);

const F_OPTIONS =
  'fast-math|strict-aliasing|math-errno|signed-char|unsigned-char|inline|inline-functions|unroll-loops|' +
  'vectorize|slp-vectorize|tree-vectorize|exceptions|rtti|common|openmp|openmp-simd|omit-frame-pointer|PIC|pic|' +
  'PIE|pie|trapping-math|finite-math-only|associative-math|reciprocal-math|rounding-math|signed-zeros|wrapv|' +
  'builtin|short-enums|stack-protector|stack-protector-strong|gnu89-inline|permissive|lax-vector-conversions|' +
  'ms-extensions|char8_t|function-sections|data-sections|delete-null-pointer-checks|threadsafe-statics|' +
  'sized-deallocation|aligned-allocation|jump-tables|zero-initialized-in-bss';

const ALLOWED = [
  /^-O([0-3sz]|fast|g)?$/,
  /^-D[A-Za-z_]\w*(\([^)]*\))?(=[^\0]*)?$/,
  /^-U[A-Za-z_]\w*$/,
  /^-std=(c|gnu|iso9899:)(\+\+)?\w{2,6}$/,
  /^-l[\w+.-]+$/,
  /^-W(?![alp],)[\w+=-]*$/,
  /^-(w|ansi|pedantic|pedantic-errors|pipe|pthread|static|s)$/,
  /^-g(gdb)?[0-3]?$/,
  /^-m(no-)?(long64|simd128|bulk-memory|sign-ext|nontrapping-fptoint|multivalue|mutable-globals)$/,
  /^-m(arch|tune|cpu)=[\w.-]+$/,
  new RegExp(`^-f(no-)?(${F_OPTIONS})$`),
  /^-f(fp-contract|fp-model)=(off|on|fast|precise|strict)$/,
  /^-f(template-depth|constexpr-depth|constexpr-steps|bracket-depth)=\d{1,9}$/,
  /^-fvisibility(-inlines-hidden|=(default|hidden|protected))$/,
  /^-fsanitize=[a-z,-]+$/,
  /^-x(c|c\+\+|none)$/,
  /^-zstack-size=\d{1,9}$/,
  /^-Wl,-z,stack-size=\d{1,9}$/,
  /^--mayfly-unwind=\d{1,9}$/,
];
const WITH_PATH = /^-(I|include|iquote|isystem|idirafter)(.+)$/s;

/** @returns the options, a value in the same word as its option. @throws MayflyError FORBIDDEN_FLAG */
export function checkFlags(flags: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < flags.length; i++) {
    const word = flags[i]!;
    const value = JOINED.has(word) ? flags[++i] : '';
    if (value === undefined) throw new MayflyError('FORBIDDEN_FLAG', `The option ${word} requires a value.`);
    const flag = word + value;
    const path = WITH_PATH.exec(flag);
    if (path !== null) {
      if (!isInside(path[2]!))
        throw new MayflyError(
          'FORBIDDEN_FLAG',
          `The option ${shown(flag)} points outside the program's files: use a path relative to them.`,
        );
      out.push(`-${path[1]!}`, path[2]!);
    } else if (ALLOWED.some((pattern) => pattern.test(flag))) out.push(flag);
    else throw new MayflyError('FORBIDDEN_FLAG', `The option ${shown(flag)} is not allowed in submissions.`);
  }
  return out;
}

const shown = (flag: string): string => JSON.stringify(flag.length > 100 ? `${flag.slice(0, 100)}…` : flag);

function isInside(path: string): boolean {
  const normal = posix.normalize(path);
  return !posix.isAbsolute(path) && normal !== '..' && !normal.startsWith('../') && !/[\0\\]/.test(path);
}
