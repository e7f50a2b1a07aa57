/**
 * Output that is not final yet, to whoever watches its job: under coordinated checkpointing a loss takes it back.
 *
 * Owns: what each watcher was sent last.
 *  V5  A watcher is sent the whole picture each time that it has changed, at most twice a second: also the empty one,
 *      once, and always the newest.
 */
import { Buffer } from 'node:buffer';
import type { JobId, ProvisionalOutput, ViewerEvents } from '@mayfly/wire';
import type { Runtime } from './runtime.ts';

const PERIOD_MS = 500;
/** Of each stream; the last lines are what a reader looks at. */
const STREAM_BYTES = 8 * 1024;
/** Of a job: of many ranks the first ones. */
const JOB_BYTES = 256 * 1024;

/** A watcher's side. */
export interface Reader {
  /** The job that it watches; undefined: none, or it does not want this. */
  readonly job: JobId | undefined;
  readonly writable: boolean;
  readonly emit: (event: 'provisional', news: Parameters<ViewerEvents['provisional']>[0]) => void;
}

interface Picture {
  readonly version: string;
  readonly streams: ProvisionalOutput[];
}

const NOTHING: Picture = { version: '', streams: [] };

export class ProvisionalFeed {
  readonly #runtime: Pick<Runtime, 'memories'>;
  /** The version of the picture that it was sent last. */
  readonly #readers = new Map<Reader, string>();
  readonly #timer: NodeJS.Timeout;

  constructor(runtime: Pick<Runtime, 'memories'>) {
    this.#runtime = runtime;
    this.#timer = setInterval(() => this.send(), PERIOD_MS);
    this.#timer.unref();
  }

  /** A watch begins or changes: its reader shows nothing. */
  add(reader: Reader): void {
    this.#readers.set(reader, NOTHING.version);
  }

  remove(reader: Reader): void {
    this.#readers.delete(reader);
  }

  /** Before output of `job` is sent, which is not to stand there twice; absent: of all jobs. */
  send(only?: JobId): void {
    const pictures = new Map<JobId, Picture>();
    for (const [reader, last] of this.#readers) {
      const { job } = reader;
      if (job === undefined || (only !== undefined && job !== only) || !reader.writable) continue;
      const picture = pictures.get(job) ?? this.#pictureOf(job);
      pictures.set(job, picture);
      if (last === picture.version) continue;
      this.#readers.set(reader, picture.version);
      reader.emit('provisional', { job, streams: picture.streams });
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #pictureOf(job: JobId): Picture {
    const all = (this.#runtime.memories.of(job) ?? []).flatMap((h) => h.core?.provisional(STREAM_BYTES) ?? []);
    if (all.length === 0) return NOTHING;
    const streams: ProvisionalOutput[] = [];
    let left = JOB_BYTES;
    for (const { task, stream, omitted, parts } of all.sort((a, b) => a.task - b.task)) {
      const whole = Buffer.concat(parts);
      // From the begin of a line, where there is one.
      const cut = whole.length > STREAM_BYTES ? whole.length - STREAM_BYTES : 0;
      const from = cut === 0 ? 0 : whole.indexOf(10, cut) + 1 || cut;
      left -= whole.length - from;
      if (left < 0) break;
      streams.push({ task, stream, omitted: omitted + from, bytes: whole.subarray(from) });
    }
    return { version: all.map((p) => p.version).join(), streams };
  }
}
