/**
 * Files in memory behind the file service: the storage of test fabrics, and the model that real storage is held
 * against.
 */
import { WORLD, checkedLength, type TaskId } from '@mayfly/wire';
import { FileService } from './file-service.ts';
import { readSegments, writeSegments, type RangeIo } from './segments.ts';
import type { FileEffect, Outcome } from './effects.ts';

export class MemoryFiles {
  readonly service: FileService;
  readonly files = new Map<string, Uint8Array>();

  constructor(
    limit: number,
    readonly inputs: ReadonlyMap<string, Uint8Array> = new Map<string, Uint8Array>(),
    tasks = 0,
    mayAdd?: (count: number, task: TaskId) => number,
  ) {
    this.service = new FileService(
      limit,
      new Map([...inputs].map(([p, b]) => [p, b.length])),
      undefined,
      tasks,
      mayAdd,
    );
  }

  /** One message to the world. Returns the answer of a request. @throws RangeError for what would end the job */
  deliver(
    task: TaskId,
    n: number,
    mode: number,
    body: Uint8Array,
  ): { number: number; error: number; body: Uint8Array } | undefined {
    const outcome = this.service.decide(task, n, mode, body, this.service.limit - this.service.total, false);
    if ('fatal' in outcome) throw new RangeError(`${outcome.fatal}: ${outcome.path}`);
    const before = this.service.requests(task);
    for (const e of this.service.apply(outcome, body)) this.perform(e);
    const number = this.service.requests(task);
    if (number === before) return undefined;
    const answer = this.answer(task, number);
    this.service.forget(task, number);
    return { number, ...answer };
  }

  /** For tests of what a restart does. */
  redo(outcome: Outcome, body: Uint8Array): void {
    for (const e of this.service.apply(outcome, body)) this.perform(e);
  }

  answer(task: TaskId, r: number): { error: number; body: Uint8Array } {
    const a = this.service.answer(task, r);
    if (!a) throw new RangeError(`no answer ${r} for task ${task === WORLD ? 'world' : task}`);
    if (!a.read) return { error: a.error, body: a.values };
    const from = (a.read.input ? this.inputs.get(a.read.path) : this.files.get(a.read.path)) ?? new Uint8Array(0);
    return {
      error: a.error,
      body: readSegments(
        range(() => from),
        a.read.segments,
        a.read.size,
      ),
    };
  }

  /** What is written to but is not there: a later effect, done already, has removed it. */
  perform(e: FileEffect): void {
    if ((e.type === 'write' || e.type === 'resize') && !this.files.has(e.path))
      this.files.set(e.path, new Uint8Array(0));
    if (e.type === 'create') this.files.set(e.path, e.input ? this.inputs.get(e.path)!.slice() : new Uint8Array(0));
    else if (e.type === 'remove') this.files.delete(e.path);
    else if (e.type === 'resize') this.files.set(e.path, sized(this.files.get(e.path)!, e.size));
    else
      writeSegments(
        range(
          () => this.files.get(e.path)!,
          (b) => this.files.set(e.path, b),
        ),
        e.segments,
        e.data,
      );
  }
}

/** A job's output has less. */
const MOST_BYTES = 2 ** 32;

const sized = (b: Uint8Array, size: number): Uint8Array => {
  const out = new Uint8Array(checkedLength(size, MOST_BYTES));
  out.set(b.subarray(0, size));
  return out;
};

function range(get: () => Uint8Array, put: (b: Uint8Array) => void = () => undefined): RangeIo {
  return {
    read(into, at) {
      const part = get().subarray(at, at + into.length);
      into.set(part);
      return part.length;
    },
    write(from, at) {
      if (at + from.length > get().length) put(sized(get(), at + from.length));
      get().set(from, at);
    },
  };
}
