/**
 * Compilers that remember: the same program submitted again (*Run again*, a class with one exercise, an example of the gallery) is not compiled again, and
 * those that come while it is compiled wait for that one. What was refused is not remembered.
 *
 * Owns: results of compilations, the least recently used go first.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Compilers } from './program.ts';

/** Of bundles and modules together. */
const MOST_BYTES = 128 << 20;

export function remembering({ scripts, modules }: Compilers, maxSize = MOST_BYTES): Compilers {
  const kept = new LRUCache<string, object>({ maxSize });
  const compileScript = remembered(kept, scripts.compile.bind(scripts), (r) => [JSON.stringify(r)], (made) => (made.ok ? made.bundle.length + made.sourceMap.length : undefined));
  const compileModule = remembered(kept, modules.compileModule.bind(modules), (r) => (r.language === 'wasm' ? [JSON.stringify({ ...r, module: undefined }), r.module] : [JSON.stringify(r)]), (made) => (made.ok ? made.module.length : undefined));
  return { scripts: { compile: compileScript }, modules: { compileModule } };
}

/** @param bytesOf undefined: not worth remembering */
function remembered<Q, A extends object>(kept: LRUCache<string, object>, compile: (request: Q) => Promise<A>, contentOf: (request: Q) => (string | Uint8Array)[], bytesOf: (made: A) => number | undefined): (request: Q) => Promise<A> {
  const underWay = new Map<string, Promise<A>>();
  const anew = async (name: string, request: Q): Promise<A> => {
    const made = await compile(request);
    const size = bytesOf(made);
    if (size !== undefined) kept.set(name, made, { size: size + 1 });
    return made;
  };
  return async (request) => {
    const hash = createHash('sha256');
    for (const part of contentOf(request)) hash.update(part);
    const name = hash.digest('hex');
    const before = (kept.get(name) as A | undefined) ?? underWay.get(name);
    if (before) return before;
    const made = anew(name, request).finally(() => underWay.delete(name));
    underWay.set(name, made);
    return made;
  };
}
