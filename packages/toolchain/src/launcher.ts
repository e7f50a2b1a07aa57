/**
 * The file of a linked program: the module behind a few lines of shell, so that it can be started like any other
 * program, as one rank. Configure scripts start what they compile.
 */
const MAGIC = [0, 0x61, 0x73, 0x6d];
const SHEBANG = [0x23, 0x21];
/** Longer heads are no launcher of ours. */
const MAX_HEAD = 8192;
const NEWLINE = 0x0a;

const at = (bytes: Uint8Array, offset: number, what: readonly number[]): boolean =>
  what.every((b, i) => bytes[offset + i] === b);

const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * @param mayfly how `mayfly` was called where the program was linked; elsewhere the one of the PATH is called
 */
export function launcher(mayfly: readonly string[]): Uint8Array {
  const [command, ...more] = mayfly.map(word);
  const run = 'mpiexec --local --quiet -n 1 "$0" "$@"';
  const here = [`[ -x ${command!} ]`, ...more.map((m) => `[ -f ${m} ]`)].join(' && ');
  return new TextEncoder().encode(
    `#!/bin/sh\n# A WebAssembly module follows these lines. They run it as one rank.\n` +
      `${here} && exec ${[command, ...more].join(' ')} ${run}\nexec mayfly ${run}\n`,
  );
}

/** Where the module begins in the file of a program; undefined: it is none. */
export function moduleOffset(bytes: Uint8Array): number | undefined {
  if (at(bytes, 0, MAGIC)) return 0;
  if (!at(bytes, 0, SHEBANG)) return undefined;
  const most = Math.min(bytes.length, MAX_HEAD);
  for (let i = bytes.indexOf(NEWLINE); i >= 0 && i < most; i = bytes.indexOf(NEWLINE, i + 1))
    if (at(bytes, i + 1, MAGIC)) return i + 1;
  return undefined;
}

/** The module alone; what is no program, as it is. */
export const moduleOf = (bytes: Uint8Array): Uint8Array => bytes.subarray(moduleOffset(bytes) ?? 0);
