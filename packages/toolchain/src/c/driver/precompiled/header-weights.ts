/**
 * How much text a header of libc++ brings along: whether precompiling it is worth the time. An estimate: conditions
 * around includes are not looked at.
 */
import { sysrootFiles } from '../../llvm.ts';

const FOLDER = '/include/c++/v1/';
/** What they hold is read faster than it is precompiled. */
const OF_C = /^c(?!hrono$|odecvt$|omplex$|ondition_variable$|harconv$|oncepts$|ompare$|oroutine$)|\./;

const closures = new Map<string, ReadonlyMap<string, number>>();

/** Whether it may be precompiled: a header of libc++ that counts once, however often it is included (not <cassert>). */
export function isCxxHeader(name: string): boolean {
  return !OF_C.test(name) && !name.includes('/') && sysrootFiles().stat(FOLDER + name)?.kind === 'file';
}

/** The bytes that the headers bring beyond those which the others have brought. */
export function weight(headers: Iterable<string>, beyond: Iterable<string> = []): number {
  const known = new Set([...beyond].flatMap((name) => [...closure(name).keys()]));
  let bytes = 0;
  for (const name of headers)
    for (const [file, size] of closure(name))
      if (!known.has(file)) {
        known.add(file);
        bytes += size;
      }
  return bytes;
}

function closure(name: string): ReadonlyMap<string, number> {
  const known = closures.get(name);
  if (known !== undefined) return known;
  const found = new Map<string, number>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue;
    const bytes = sysrootFiles().read(FOLDER + next);
    if (bytes === undefined) continue;
    found.set(next, bytes.length);
    for (const included of includesOf(next, bytes)) waiting.push(included);
  }
  closures.set(name, found);
  return found;
}

const includes = new Map<string, readonly string[]>();

function includesOf(name: string, bytes: Uint8Array): readonly string[] {
  let list = includes.get(name);
  if (list === undefined) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    list = [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*<([^>]+)>/gm)]
      .map((m) => m[1]!)
      .filter((n) => !n.startsWith('__cxx03'));
    includes.set(name, list);
  }
  return list;
}
