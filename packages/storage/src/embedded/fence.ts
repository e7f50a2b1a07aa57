/**
 * X4 of directory-lock.ts: a storage whose directory another process has taken writes nothing more, and reports nothing
 * as stored that the other one may not have seen.
 */
import type { OpenOutput, Storage } from '../ports/index.ts';
import type { DirectoryLock } from './directory-lock.ts';

type Method = (...args: never[]) => unknown;
/** Names of the methods of T. */
type MethodsOf<T> = { [K in keyof T]: T[K] extends Method ? K : never }[keyof T];
type LaterOf<T> = { [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never }[keyof T];

type Ports = Pick<Storage, 'log' | 'images' | 'registry' | 'files' | 'output' | 'archive'>;

/** Changes the ports, which are of this opening, and what they open. */
export function fence({ log, images, registry, files, output, archive }: Ports, lock: DirectoryLock): void {
  /** Methods that write before they return. */
  const now = <T extends object>(of: T, ...names: MethodsOf<T>[]): void => {
    for (const name of names) {
      const write = (of[name] as Method).bind(of);
      of[name] = ((...args: never[]) => {
        lock.check();
        return write(...args);
      }) as never;
    }
  };
  /** Methods that have written, durably or not, when they resolve. `each`: to what they resolve. */
  const later = <T extends object, K extends LaterOf<T>>(
    of: T,
    names: K[],
    each?: (result: T[K] extends (...args: never[]) => Promise<infer R> ? R : never) => void,
  ): void => {
    for (const name of names) {
      const write = (of[name] as Method).bind(of);
      of[name] = (async (...args: never[]) => {
        lock.check();
        const result = await write(...args);
        lock.confirm();
        each?.(result as never);
        return result;
      }) as never;
    }
  };

  // Opening a stream repairs it. An open stream is given to whoever opens it again.
  const fenced = new WeakSet<object>();
  later(log, ['open'], (stream) => {
    if (fenced.has(stream)) return;
    fenced.add(stream);
    now(stream, 'append', 'trim');
    later(stream, ['sync']);
  });
  later(log, ['remove']);
  later(images, ['putPage', 'putManifest', 'removeManifest', 'collect']);
  later(registry, ['commit', 'lease']);
  later(files, ['create', 'seal', 'remove']);
  later(files, ['stdin'], (stdin) => later(stdin, ['append']));
  later(output, ['open'], (open) => fenceOutput(open));
  later(output, ['remove']);
  later(archive, ['put']);

  function fenceOutput(open: OpenOutput): void {
    now(open.files, 'perform', 'enterAll');
    later(open.files, ['sync']);
    now(open.journal, 'begin', 'append');
    later(open.journal, ['sync', 'rewrite']);
    const task = open.task.bind(open);
    open.task = (id) => {
      const of = task(id);
      if (fenced.has(of)) return of;
      fenced.add(of);
      now(of, 'place', 'takeBack', 'write');
      later(of, ['sync']);
      return of;
    };
  }
}
