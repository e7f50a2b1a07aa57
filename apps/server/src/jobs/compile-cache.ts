/**
 * Compilers that remember: the same program submitted again (*Run again*, a class with one exercise, an example of the
 * gallery) is not compiled again, and those that come while it is compiled wait for that one. What was refused is not
 * remembered.
 *
 * Owns: results of compilations, the least recently used go first.
 *  R1  A compilation is ended when the last one who waits for it has left, not before.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Asker } from '@mayfly/toolchain';
import { MayflyError } from '@mayfly/wire';
import type { Compilers } from './program.ts';

/** Of bundles and modules together. */
const MOST_BYTES = 128 << 20;

export function remembering({ scripts, modules }: Compilers, maxSize = MOST_BYTES): Compilers {
  const kept = new LRUCache<string, object>({ maxSize });
  const compileScript = remembered(
    kept,
    scripts.compile.bind(scripts),
    (r) => [JSON.stringify(r)],
    (made) => (made.ok ? made.bundle.length + made.sourceMap.length : undefined),
  );
  const compileModule = remembered(
    kept,
    modules.compileModule.bind(modules),
    (r) => (r.language === 'wasm' ? [JSON.stringify({ ...r, module: undefined }), r.module] : [JSON.stringify(r)]),
    (made) => (made.ok ? made.module.length : undefined),
  );
  return { scripts: { compile: compileScript, unpack: scripts.unpack.bind(scripts) }, modules: { compileModule } };
}

interface UnderWay<A> {
  readonly made: Promise<A>;
  readonly ended: AbortController;
  waiting: number;
}

type Compile<Q, A> = (request: Q, asker?: Asker) => Promise<A>;

/** @param bytesOf undefined: not worth remembering */
function remembered<Q, A extends object>(
  kept: LRUCache<string, object>,
  compile: Compile<Q, A>,
  contentOf: (request: Q) => (string | Uint8Array)[],
  bytesOf: (made: A) => number | undefined,
): Compile<Q, A> {
  const underWay = new Map<string, UnderWay<A>>();
  const begin = (name: string, request: Q, asker: Asker): UnderWay<A> => {
    const ended = new AbortController();
    const made = compile(request, { ...asker, signal: ended.signal }).then((result) => {
      const size = bytesOf(result);
      if (size !== undefined) kept.set(name, result, { size: size + 1 });
      return result;
    });
    const under: UnderWay<A> = { made, ended, waiting: 0 };
    const over = (): void => {
      if (underWay.get(name) === under) underWay.delete(name);
    };
    made.then(over, over);
    underWay.set(name, under);
    return under;
  };
  return async (request, asker = {}) => {
    const hash = createHash('sha256');
    for (const part of contentOf(request)) hash.update(part);
    const name = hash.digest('hex');
    const before = kept.get(name) as A | undefined;
    if (before) return before;
    const under = underWay.get(name) ?? begin(name, request, asker);
    under.waiting++;
    return new Promise<A>((resolve, reject) => {
      const leave = (): void => {
        reject(new MayflyError('CANCELLED', 'The submission was cancelled before this program was compiled.'));
        if (--under.waiting > 0) return;
        // R1. The next request starts it again.
        if (underWay.get(name) === under) underWay.delete(name);
        under.ended.abort();
      };
      if (asker.signal?.aborted) return leave();
      asker.signal?.addEventListener('abort', leave, { once: true });
      const done = (): void => asker.signal?.removeEventListener('abort', leave);
      under.made.then(
        (made) => (done(), resolve(made)),
        (error: Error) => (done(), reject(error)),
      );
    });
  };
}
