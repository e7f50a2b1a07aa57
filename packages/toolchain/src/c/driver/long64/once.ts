/**
 * The usual case of a compilation with `-mlong64` is one run of clang, which compiles and checks: the flags of the
 * check add messages and no code (formats.ts), and so do the tags in mpi.h (mpi-tags.ts). Only when there is such a
 * message, or the others are not surely those that the user would see, another run follows.
 *
 * Invariant: O1 the object and the messages are those of a run without the check, but for columns of debug information
 * in a line where the check put an attribute.
 */
import type { WasiResult } from '../../wasi-process.ts';
import { shown } from './diagnostics.ts';
import { type Findings, findingsOf, ERRORS } from './formats.ts';

/** What shapes or adds to the messages, so that they could not be read or be taken apart. */
const NOT_ONCE =
  /^(-v|-###|-save-temps.*|-Weverything|-Wfatal-errors|-f(no-)?(color-diagnostics|caret-diagnostics|diagnostics-.*)|-W(no-)?(error=)?(format|nonnull|incompatible|cast-align|type-safety).*)$/;
export interface Once {
  readonly result: WasiResult;
  readonly findings: Findings;
  /** Undefined: what the user is to see is not known. */
  readonly messages: string | undefined;
}

/** @param options the user's */
export const mayBeOnce = (options: readonly string[]): boolean => !options.some((o) => NOT_ONCE.test(o));

/** @param clang runs it with these options */
export function once(
  clang: (...options: readonly string[]) => WasiResult,
  { flags, action, cwd }: { flags: readonly string[]; action: readonly string[]; cwd: string },
): Once {
  // With -w clang would not say what the check asks for.
  const silent = flags.includes('-w');
  const result = clang(
    ...flags.filter((f) => f !== '-w'),
    ...action,
    ...(silent ? ['-Wno-everything'] : []),
    ...ERRORS,
  );
  const stderr = new TextDecoder().decode(result.stderr);
  return { result, findings: findingsOf(stderr, cwd), messages: silent ? '' : shown(stderr) };
}
