/**
 * What is reported of a value that a program threw. It may be anything: an error whose `stack` throws, a revoked proxy,
 * an object whose `toString` calls itself until the stack is used up. Whatever the program's code does when it is
 * asked, these functions return.
 */
import { aboutClosed } from './harden.ts';
import { PROGRAM_FILE } from './call-site.ts';

const MOST_CHARS = 16_000;
const MOST_NAME = 200;

/** What `ask` returns, as a text. undefined: it threw, or that is none. */
function asked(ask: () => unknown, most = MOST_CHARS): string | undefined {
  try {
    const value = ask();
    return typeof value === 'string' ? value.slice(0, most) : undefined;
  } catch {
    return undefined;
  }
}

/** `instanceof`; false where the question itself throws (a proxy). */
export function isA<T>(value: unknown, type: abstract new (...a: never) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/**
 * Message and stack of whatever was thrown; of the stack, the program's own frames. The server maps them to its
 * sources.
 */
export function describe(error: unknown): { message: string; stack?: string } {
  if (!isA(error, Error)) return { message: `uncaught: ${shown(error)}` };
  const name = asked(() => error.name, MOST_NAME) ?? 'Error';
  const text = asked(() => error.message) ?? 'an error that does not tell its message';
  const message = `${name}: ${text}${name === 'TypeError' ? aboutClosed(text) : ''}`;
  const frames = (asked(() => error.stack, 64_000) ?? '').split('\n').filter((line) => line.includes(PROGRAM_FILE));
  return { message, ...(frames.length > 0 ? { stack: [message, ...frames].join('\n') } : {}) };
}

/** For errors of our own code, or so it is hoped. */
export const messageOf = (error: unknown): string =>
  isA(error, Error)
    ? `${asked(() => error.name, MOST_NAME) ?? 'Error'}: ${asked(() => error.message, 4000) ?? ''}`
    : 'a value that is not an Error was thrown';

function shown(value: unknown): string {
  const kind = typeof value;
  if (kind !== 'object' && kind !== 'function') return asked(() => String(value)) ?? kind;
  if (value === null) return 'null';
  return (
    (kind === 'object' ? asked(() => JSON.stringify(value)) : undefined) ??
    asked(() => Object.prototype.toString.call(value), MOST_NAME) ??
    `a ${kind} that cannot be shown`
  );
}
