/**
 * Which options a precompiled header depends on, and which say nothing to it. An option that is in no list makes the
 * compilation an ordinary one.
 */
import type { HeaderNames } from './header-names.ts';

export interface HeaderFlags {
  /** What the precompiled header is compiled with. */
  readonly flags: readonly string[];
  readonly folders: readonly string[];
  readonly quoted: readonly string[];
  /** -isystem, -idirafter */
  readonly later: readonly string[];
  readonly defined: readonly string[];
}

const OF_THE_LANGUAGE =
  /^(-std=[\w+]+|-w|-W(?![apl],|system-headers).*|-pedantic(-errors)?|-m(?!llvm$)[\w-]+|-f(no-)?(exceptions|ignore-exceptions|rtti|permissive|fast-math|math-errno|trapping-math|finite-math-only|associative-math|reciprocal-math|signed-zeros|unsafe-math-optimizations|honor-nans|honor-infinities|rounding-math|strict-aliasing|strict-overflow|wrapv|omit-frame-pointer|inline|inline-functions|unroll-loops|vectorize|slp-vectorize|tree-vectorize|tree-slp-vectorize|common|data-sections|function-sections|visibility-inlines-hidden|visibility=\w+|signed-char|unsigned-char|builtin|color-diagnostics|diagnostics-color(=\w+)?|diagnostics-show-option|template-depth=\d+|constexpr-depth=\d+|constexpr-steps=\d+|ffp-contract=\w+|asynchronous-unwind-tables|unwind-tables|stack-protector(-\w+)?|merge-all-constants))$/;
/** Where the rules for make go, and what of the compilation is kept: nothing of it is in a precompiled header. */
const OF_THE_OUTPUT = /^(-MM?D|-MP|-g([0-3]|gdb[0-3]?|line-tables-only|dwarf-[2-5])?|-S|-fsyntax-only)$/;
const OF_THE_OUTPUT_WITH_VALUE = new Set(['-MT', '-MQ']);

/** Undefined: an option that no list has. */
export function headerFlags(clang: readonly string[], names: HeaderNames): HeaderFlags | undefined {
  const flags: string[] = [];
  const folders: string[] = [];
  const quoted: string[] = [];
  const later: string[] = [];
  const defined: string[] = [];
  for (let i = 0; i < clang.length; i++) {
    const arg = clang[i]!;
    // Glued to the option, or the next argument.
    const value = (option: string): string => (arg === option ? (clang[++i] ?? '') : arg.slice(option.length));
    if (arg.startsWith('-D') || arg.startsWith('-U')) {
      const option = arg.slice(0, 2);
      const text = value(option);
      const name = /^\w*/.exec(text)![0];
      if (names.has(name)) flags.push(option + text);
      defined.push(name);
    } else if (arg.startsWith('-I')) folders.push(value('-I'));
    else if (arg === '-iquote') quoted.push(value(arg));
    else if (arg === '-isystem' || arg === '-idirafter') later.push(value(arg));
    else if (OF_THE_OUTPUT_WITH_VALUE.has(arg)) i++;
    else if (OF_THE_OUTPUT.test(arg)) continue;
    else if (/^-O([0-3sz]|fast)?$/.test(arg) || OF_THE_LANGUAGE.test(arg)) flags.push(arg);
    else return undefined;
  }
  return folders.some((f) => f === '-') ? undefined : { flags, folders, quoted, later, defined };
}
