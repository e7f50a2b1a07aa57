/**
 * What a program's widened text (widen.ts) still has to change, or cannot be: clang knows the types of all arguments,
 * so a first run, which only checks, finds the conversions that do not fit (`%lu` of a `size_t`, which keeps 32 bits)
 * and says how to write them. It also finds pointers to a `long` of the system, which the program would use for one
 * of its own: these are errors, because the program would write beyond them.
 *
 * Functions of the program that pass a format on (`void log(const char *format, ...)`) get clang's attribute for
 * formats in that run, or clang would not look at their calls.
 */
import { absolute } from '../../files.ts';
import type { Edit } from './edit.ts';

const GROUPS = [
  'format',
  'incompatible-pointer-types',
  'incompatible-function-pointer-types',
  'type-safety',
  'cast-align',
] as const;
/**
 * For a run that checks and compiles (once.ts), after what the user wants. Errors, so that clang stops before it
 * optimises what is to be compiled again; the last group is too common for that.
 */
export const ERRORS = [
  ...GROUPS.flatMap((w) => [`-W${w}`, w === 'cast-align' ? `-Wno-error=${w}` : `-Werror=${w}`]),
  '-fdiagnostics-parseable-fixits',
  '-ferror-limit=0',
];
/** For the run that only checks. */
export const CHECK_FLAGS = [
  '-fsyntax-only',
  '-Wno-everything',
  ...GROUPS.flatMap((w) => [`-W${w}`, `-Wno-error=${w}`]),
  '-fdiagnostics-parseable-fixits',
  '-fno-color-diagnostics',
  '-fno-diagnostics-show-line-numbers',
  '-ferror-limit=0',
];
/** Of the user's options, those that would change what the check says. */
export const NOT_FOR_A_CHECK =
  /^(-w|-W(?![alp],).*|-pedantic.*|-f(no-)?(color-diagnostics|caret-diagnostics|diagnostics-.*)|-M[DM]*|-MMD|-MP|-S|-E|-v|-save-temps.*)$/;

/** Anywhere in a text: no program writes it so. */
const attribute = (format: number): string => ` __attribute__((__format__(__printf__,${format},${format + 1})))/**/`;
const ATTRIBUTE = / __attribute__\(\(__format__\(__printf__,\d+,\d+\)\)\)\/\*\*\//g;

/** A list of parameters that ends in `const char *format, ...`. */
const PASSES_FORMAT =
  /\(([^(){};"]*?\bchar\s*(?:const\s*)?\*\s*(?:const\s*|__?restrict(?:__)?\s*|restrict\s*)*\w*\s*),\s*\.\.\.\s*\)(?=\s*[;{])/g;

export const hasFormatAttributes = (text: string): boolean => text.search(ATTRIBUTE) !== -1;

/** Whether a program has functions that {@link withFormatAttributes} would mark. */
export const passesFormats = (text: string): boolean => text.search(PASSES_FORMAT) !== -1;

export function withFormatAttributes(text: string, language: 'c' | 'c++'): string {
  return text.replace(PASSES_FORMAT, (all, parameters: string) => {
    const format = parameters.split(',').length;
    // A member's parameters begin with `this`, which the text does not show. The one that does not fit is an error,
    // and the check looks at warnings only.
    return all + attribute(format) + (language === 'c++' ? attribute(format + 1) : '');
  });
}

export const withoutFormatAttributes = (text: string): string => text.replace(ATTRIBUTE, '');

export interface Findings {
  readonly edits: readonly Edit[];
  /** Errors as clang writes them, for what cannot be translated. */
  readonly refusals: readonly string[];
}

const ADVICE: Readonly<Record<string, string>> = {
  format: 'use %zu or %td for the latter, or a cast',
  'type-safety': 'send the latter as MPI_UINT32_T, MPI_INT32_T or MPI_AINT, or in a variable of type long',
};
const WARNING = /^(.+?):(\d+):(\d+): (?:warning|error): (.*) \[(?:-Werror,)?-W([\w-]+)\]$/;
const FIX = /^fix-it:"((?:[^"\\]|\\.)+)":\{(\d+):(\d+)-(\d+):(\d+)\}:"(.*)"$/;

/** @param messages of clang with {@link CHECK_FLAGS}, or with {@link ERRORS} and others */
export function findingsOf(messages: string, cwd: string): Findings {
  const edits: Edit[] = [];
  const refusals: string[] = [];
  const lines = messages.split('\n');
  for (let i = 0; i < lines.length; i++) {
    const [, file, line, column, message, kind] = WARNING.exec(lines[i]!) ?? [];
    if (message === undefined || message.includes('/.mayfly/')) continue;
    if (kind === 'format-pedantic' || !GROUPS.some((g) => kind!.startsWith(g))) continue;
    const types = [...message.replace("doesn't", 'does not').matchAll(/'([^']+)'(?: \(aka '([^']+)'\))?/g)]
      .map((m) => m[2] ?? m[1]!)
      .filter((t) => t !== 'mayfly');
    if (types.length < 2 || !concernsWidth(types[0]!, types[1]!, kind === 'format')) continue;
    let fix: RegExpExecArray | null = null;
    for (let j = i + 1; j < lines.length && !WARNING.test(lines[j]!); j++) fix ??= FIX.exec(lines[j]!);
    if (kind === 'format' && fix !== null && fix[2] === fix[4])
      edits.push({
        path: absolute(cwd, fix[1]!.replace(/\\(.)/g, '$1')),
        line: Number(fix[2]),
        from: Number(fix[3]),
        to: Number(fix[5]),
        text: signedAs(types[0]!, fix[6]!.replace(/\\(.)/g, '$1')),
      });
    else
      refusals.push(
        `${file!}:${line!}:${column!}: error: ${message}; long has 64 bits in the program, and size_t, ptrdiff_t and the ` +
          `long of the system's headers have 32: ${ADVICE[kind!] ?? 'use their own types'}, or compile the whole ` +
          `program with -mno-long64 [-mlong64]\n`,
      );
  }
  return { edits, refusals };
}

/** clang's fix follows the argument's type. `%ld` prints a negative difference as such, and keeps its sign. */
const signedAs = (wanted: string, format: string): string =>
  wanted.includes('unsigned') ? format : format.replace(/u$/, 'd');

const WORD = /^(?:const |volatile )*(?:int|long|long long|unsigned|unsigned int|unsigned long|unsigned long long)$/;

/** Whether the two differ in size because of the width of long, or might. */
function concernsWidth(a: string, b: string, format: boolean): boolean {
  if (format) {
    const [pointers, others] = [a, b].map((t) => t.replace(/[^*]/g, '').length);
    const [x, y] = [a, b].map((t) => t.replace(/ ?\*.*$/, ''));
    return pointers === others && WORD.test(x!) && WORD.test(y!) && size(x!) !== size(y!);
  }
  return size(a) !== size(b) && /\blong\b/.test(a) && /\blong\b/.test(b) && size(a) + size(b) > 0;
}

/** Bytes of the integer type that a text names; of a pointer or a function, of the widest in it. */
const size = (type: string): number => (/\blong long\b/.test(type) ? 8 : 4);
