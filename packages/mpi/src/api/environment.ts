/** The world as programs see it: standard streams, files, clock. */
import { ERR, fail } from '../errors.ts';
import { concat, readIn, readLineIn, writeFileAt, writeOut } from '../outside-world.ts';
import { describe, type Context } from './context.ts';
import { formatLine } from './format.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

const text = new TextEncoder();
const read = new TextDecoder('utf-8');

/** Relative, no hidden or empty segments: what the server accepts as a path of a job (ResultPath of the wire). */
const PATH = /^(?!.*(?:^|\/)\.)[A-Za-z0-9_][A-Za-z0-9_.@+:-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.@+:-]*)*$/;
/** One message to the world carries at most this much of a file: bounded memory on the way. */
const FILE_PART = 1024 * 1024;

export function environment(context: Context): Pick<typeof Mayfly, 'stdin' | 'files' | 'print' | 'console'> {
  const { layer, runtime } = context;
  const active = (call: string): void => {
    if (layer.inCallback) fail(ERR.OTHER, call, 'called inside the function of a reduction operation');
    if (context.ended) fail(ERR.OTHER, call, 'called after the end of the program');
  };
  const out = (s: unknown, stream: 'stdout' | 'stderr' = 'stdout'): void =>
    context.call(() => {
      active('print');
      writeOut(layer, text.encode(String(s)), stream);
    });
  const log = (...values: unknown[]): void => out(`${formatLine(values)}\n`);
  const warn = (...values: unknown[]): void => out(`${formatLine(values)}\n`, 'stderr');

  const path = (p: unknown, call: string): string => {
    if (typeof p !== 'string' || p.length > 200 || !PATH.test(p))
      fail(
        ERR.BAD_FILE,
        call,
        `path ${describe(p)}: it has to be relative, of letters, digits and _ . @ + : -, without hidden or empty parts`,
      );
    return p as string;
  };
  const readFile = (p: string, call: string): Uint8Array => {
    active(call);
    path(p, call);
    const known = runtime.inputFiles();
    if (!known.includes(p))
      fail(
        ERR.NO_SUCH_FILE,
        call,
        'there is no input file ' +
          `'${p}'${known.length ? ` (there are: ${[...known].sort().slice(0, 20).join(', ')})` : ': the job was submitted without files'}`,
      );
    return runtime.readInput(p).slice();
  };
  const writeFile = (call: string, p: string, at: number, data: unknown, anew: boolean): void => {
    active(call);
    path(p, call);
    if (!Number.isInteger(at) || at < 0) fail(ERR.ARG, call, `offset ${String(at)} is not a whole number ≥ 0`);
    const bytes =
      typeof data === 'string'
        ? text.encode(data)
        : data instanceof Uint8Array
          ? data
          : fail(ERR.BUFFER, call, `the data is ${describe(data)}: a text or a Uint8Array can be written`);
    let from = 0;
    do {
      const part = bytes.subarray(from, from + FILE_PART);
      writeFileAt(layer, p, at + from, part);
      from += part.length;
    } while (from < bytes.length);
    const before = anew ? 0 : (layer.state.fileBytes.get(p) ?? 0);
    layer.state.fileBytes.set(p, Math.max(before, at + bytes.length));
  };

  return {
    stdin: {
      readLine: () =>
        context.call(() => {
          active('stdin.readLine');
          const line = readLineIn(layer);
          return line.length === 0 ? null : read.decode(line).replace(/\r?\n$/, '');
        }),
      read: (bytes) =>
        context.call(() => {
          active('stdin.read');
          if (!Number.isInteger(bytes) || bytes <= 0)
            fail(ERR.COUNT, 'stdin.read', `${String(bytes)} is not a whole number > 0`);
          return readIn(layer, bytes);
        }),
      readAll: () =>
        context.call(() => {
          active('stdin.readAll');
          const parts: Uint8Array[] = [];
          for (let p = readIn(layer, Infinity); p.length > 0; p = readIn(layer, Infinity)) parts.push(p);
          return read.decode(concat(parts));
        }),
    },
    files: {
      read: (p) => context.call(() => readFile(p, 'files.read')),
      readText: (p) => context.call(() => read.decode(readFile(p, 'files.readText'))),
      exists: (p) => runtime.inputFiles().includes(p),
      list: () => [...runtime.inputFiles()].sort(),
      write: (p, data) => context.call(() => writeFile('files.write', p, 0, data, true)),
      append: (p, data) =>
        context.call(() => writeFile('files.append', p, layer.state.fileBytes.get(p) ?? 0, data, false)),
      writeAt: (p, offset, data) => context.call(() => writeFile('files.writeAt', p, offset, data, false)),
    },
    print: (s) => out(s),
    console: { log, info: log, debug: log, warn, error: warn },
  };
}
