/** Errors of jobs as the pages say them. Pure. */
import type { JobView } from '@mayfly/wire';

/**
 * Where a message ends and its stack begins: engines write '\n    at …' (Chromium, Node) or 'name@file:line' (Firefox).
 */
export function splitStack(message: string): { message: string; stack: string | undefined } {
  const at = message.search(/\n\s+at\s|\n\S*@\S+:\d+/);
  if (at < 0) return { message, stack: undefined };
  // Node says besides where in our bundle it was; the stack says where in the program.
  const lines = message
    .slice(0, at)
    .split('\n')
    .filter((l) => !/^mayfly-program\.js:\d+$/.test(l));
  // Engines begin a stack with the error again: 'rank 1: RangeError: x' needs no second 'RangeError: x'.
  const last = lines.at(-1)!;
  if (lines.length > 1 && lines.at(-2)!.endsWith(last)) lines.pop();
  // Of a trap it has the engine's own words, which belong to the stack.
  else if (lines.length > 1 && /^\w*Error: /.test(last))
    return { message: lines.slice(0, -1).join('\n'), stack: `${last}\n${message.slice(at + 1)}` };
  return { message: lines.join('\n'), stack: message.slice(at + 1) };
}

/** The first line of an error; what it announces with a colon stands elsewhere. */
export const headOf = (message: string): string => (message.split('\n', 1)[0] ?? message).replace(/:$/, '.');

/** 'ABORTED: …': with the code, unless the sentence begins with the same word. */
export function failureLine({ code, message }: NonNullable<JobView['error']>): string {
  const head = headOf(message);
  return head.toUpperCase().startsWith(`${code}:`) ? head : `${code}: ${head}`;
}
