/**
 * From where in the program a call of MPI was made: the innermost frame of the stack that is the program's own, as
 * 'name (module:position)'. The server makes of it what its sources say. For people only; nothing of it reaches the
 * program. The parser is pure.
 */
import { PLACE_CHARS } from '@mayfly/wire';

/** The name under which a script is evaluated: its places in a stack carry it. */
export const PROGRAM_FILE = 'mayfly-program.js';

/** A place in a module of WebAssembly, or in the bundle of a script. */
const POSITION = new RegExp(`(wasm-function\\[\\d+\\]:0x[0-9a-f]+|${PROGRAM_FILE.replaceAll('.', '\\.')}:\\d+:\\d+)`);
/** Wrappers of a profiling library, and a C library's own functions, stand between the program and us. */
const BETWEEN =
  /^(P?MPI_|__|(read|readv|getc|fgetc|getchar|gets|fgets|fread|scanf|fscanf|vscanf|vfscanf|getline|getdelim|ungetc)$)/;

/** @param stack of V8, SpiderMonkey or JavaScriptCore */
export function placeOf(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    const position = POSITION.exec(line)?.[1];
    if (position === undefined) continue;
    const name = nameOf(line);
    if (name !== undefined && BETWEEN.test(name)) continue;
    return name === undefined ? position : `${name.slice(0, PLACE_CHARS - position.length - 3)} (${position})`;
  }
  return undefined;
}

/**
 * V8: '    at a.out.halo (…)', where the module's name comes first; the others: 'halo@…', or with the index of a
 * function without a name.
 */
function nameOf(line: string): string | undefined {
  const name =
    /^\s*at (?:async |new )?(.+) \(/.exec(line)?.[1]?.replace(/^(a\.out|wasm-module)\./, '') ??
    /^\s*([^@]+)@/.exec(line)?.[1];
  return name === undefined || /^(<\?>\.)?wasm-function\[/.test(name) ? undefined : name;
}

const MOST_FRAMES = 64;

const of = Error as unknown as { stackTraceLimit: number | undefined };

/** The place of the call that is under way on this thread. */
export function placeNow(): string | undefined {
  const limit = of.stackTraceLimit;
  of.stackTraceLimit = MOST_FRAMES;
  const stack = String(new Error().stack);
  of.stackTraceLimit = limit;
  return placeOf(stack);
}
