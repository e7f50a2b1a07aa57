/**
 * What is said of a program that ended by a trap: one line of why, and the stack with the names of the module's name
 * section.
 */

export interface Description {
  message: string;
  stack?: string;
}

/**
 * What engines say (V8, SpiderMonkey), what it is, and what usually causes it. Firefox says of memory and of the table
 * of functions that an index is out of bounds: the former is far more usual.
 */
const WHY: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /unreachable/,
    'unreachable code was executed: abort(), a failed assertion or check of -fsanitize, an uncaught C++ ' +
      'exception or __builtin_trap()',
  ],
  [
    /table index is out of bounds|table.*out of bounds/,
    'a call through a function pointer that points to no function: it was overwritten, or never set',
  ],
  [
    /null function or function signature/,
    'a call through a function pointer that points to no function (NULL, or never set), or to one with other ' +
      'arguments or another result',
  ],
  [
    /indirect call to null|null function|undefined element/,
    'a call through a function pointer that points to no function: NULL, or never set',
  ],
  [
    /signature mismatch|indirect call.*(mismatch|signature)/,
    'a call through a function pointer to a function with other arguments or another result',
  ],
  [
    /out of bounds memory|memory access out of bounds|index out of bounds/,
    'memory was accessed out of bounds: an index far beyond its array, a wild pointer, or the stack has run ' +
      'out, or code takes pointers (or, with -mno-long64, long) to have 64 bits: here they have 32',
  ],
  [/divide by zero|division by zero/, 'an integer was divided by zero'],
  [/integer overflow|divide result unrepresentable/, 'an integer division overflowed: the least integer by −1'],
  [
    /float unrepresentable|invalid conversion to integer|unrepresentable in integer/,
    'a floating point number does not fit the integer that it was converted to: it is too large, or NaN',
  ],
];

/** A stack that outgrew the engine's own. */
export const isStackOverflow = (e: unknown): boolean =>
  e instanceof Error && /call stack|too much recursion/i.test(e.message);

/** The name that a module gives itself in its name section: V8 puts it before the names of functions. */
export function moduleName(module: WebAssembly.Module): string {
  const section = WebAssembly.Module.customSections(module, 'name')[0];
  if (!section) return '';
  const b = new Uint8Array(section);
  let at = 1;
  const leb = (): number => {
    let n = 0;
    for (let shift = 0; at < b.length && shift < 35; shift += 7) {
      const byte = b[at++]!;
      n |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return n >>> 0;
  };
  // Subsection 0 stands first, or is not there.
  if (b[0] !== 0) return '';
  leb();
  const length = leb();
  return new TextDecoder().decode(b.subarray(at, at + length));
}

/**
 * Frames inside the module as `    at name (wasm-function[12]:0x1234)`: whatever the engine, the server maps them to
 * lines.
 */
export function wasmFrames(stack: string, module = ''): string[] {
  const out: string[] = [];
  for (const line of stack.split('\n')) {
    const at = /wasm-function\[(\d+)\]:(0x[0-9a-fA-F]+)/.exec(line);
    if (!at) continue;
    // V8: "    at name (wasm://…)", or "    at wasm://…" for a function without a name; Firefox: "name@…".
    const v8 = /^\s*at (.+) \((?:wasm|blob|https?|file|<)/.exec(line);
    const firefox = /^(?!\s*at )(.+?)@/.exec(line);
    let name = (v8?.[1] ?? firefox?.[1] ?? '').replace(/^wasm-function\[\d+\]$/, '');
    if (module !== '' && name.startsWith(`${module}.`)) name = name.slice(module.length + 1);
    out.push(`    at ${name || `function ${at[1]}`} (wasm-function[${at[1]}]:${at[2]!.toLowerCase()})`);
  }
  return out;
}

/** @param stackPointer the C stack pointer when it is known: below its floor the stack has run out */
export function describeTrap(error: unknown, stackPointer: number | undefined, module = ''): Description {
  if (!(error instanceof Error)) return { message: `the program threw ${String(error)}` };
  let why: string;
  if (isStackOverflow(error)) why = 'the stack has run out: too deep a recursion';
  else if (error instanceof WebAssembly.RuntimeError) {
    why = WHY.find(([p]) => p.test(error.message))?.[1] ?? error.message;
    // A frame larger than what was left takes the pointer below 0, which is above all memory that a rank can have.
    if (stackPointer !== undefined && (stackPointer < 4096 || stackPointer >= 0x8000_0000))
      why =
        'the stack has run out: too deep a recursion, or large arrays in a function (enlarge it with ' +
        '-Wl,-z,stack-size=…)';
  } else why = `${error.name}: ${error.message}`;
  const frames = wasmFrames(error.stack ?? '', module);
  // The linker puts a stub of this name where a call and the function have different types: mostly a call without a
  // declaration.
  const mismatch = /at signature_mismatch:(\S+)/.exec(frames[0] ?? '')?.[1];
  if (mismatch !== undefined)
    why = `${mismatch} is called with other argument or result types than it has: is an #include missing?`;
  return {
    message: `the program trapped: ${why}`,
    ...(frames.length > 0 ? { stack: [`${error.name}: ${error.message}`, ...frames].join('\n') } : {}),
  };
}

/** A C++ exception, or a longjmp, that left the program. @param thrown made where it was thrown */
export function describeLeft(thrown: Error | undefined, module = ''): Description {
  const frames = wasmFrames(thrown?.stack ?? '', module).filter((frame) => !/ at __cxa_throw /.test(frame));
  const message = thrown
    ? 'the program ended by an exception that nobody caught; its standard error names it'
    : 'the program jumped (longjmp) to a place that is not there any more';
  return { message, ...(frames.length > 0 ? { stack: [message, ...frames].join('\n') } : {}) };
}
