/**
 * What a job has written, as its report, a comparison of two runs, and the archive of all of it see it: standard output
 * and error by rank, result files by path. Hashes are of ended jobs only: what they wrote changes no more.
 */
import { isOver } from '@mayfly/protocols';
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { Range } from '@mayfly/storage/ports';
import { taskId, type JobId, type JobReport, type JobView } from '@mayfly/wire';
import type { Runtime } from '../runtime.ts';

export type Written = JobReport['outputs'];

export interface WrittenFile {
  kind: keyof Written;
  /** 'stdout', 'stderr', or the path of a result file. */
  path: string;
  rank: number;
  bytes: number;
  /** Undefined: it is not there any more. */
  read: Range | undefined;
}

const MAX_CACHED = 100;

export async function writtenFiles(runtime: Runtime, view: JobView): Promise<WrittenFile[]> {
  const out: WrittenFile[] = [];
  for (const stream of ['stdout', 'stderr'] as const)
    for (const t of view.tasks) {
      const bytes = await runtime.world.outputs.size(view.id, t.task, stream);
      if (bytes > 0)
        out.push({
          kind: stream,
          path: stream,
          rank: t.task,
          bytes,
          read: runtime.world.outputs.stream(view.id, t.task, stream),
        });
    }
  for (const f of view.outputs)
    out.push({
      kind: 'files',
      path: f.path,
      rank: f.task,
      bytes: f.bytes,
      read: await runtime.world.outputs.file(view.id, f.path),
    });
  return out;
}

/** Each file is read once, however often it is asked for. */
export class WrittenHashes {
  readonly #runtime: Runtime;
  readonly #known = new Map<JobId, Promise<Written>>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  of(view: JobView): Promise<Written> {
    if (!isOver(view.state)) return this.#read(view);
    let known = this.#known.get(view.id);
    if (!known) {
      if (this.#known.size >= MAX_CACHED) this.#known.delete(this.#known.keys().next().value!);
      this.#known.set(view.id, (known = this.#runtime.closed(view.id).then(() => this.#read(view))));
      known.catch(() => this.#known.delete(view.id));
    }
    return known;
  }

  async #read(view: JobView): Promise<Written> {
    const whole = isOver(view.state);
    const out: Written = { stdout: [], stderr: [], files: [] };
    for (const f of await writtenFiles(this.#runtime, view)) {
      const sum = whole && f.read !== undefined ? await sha256(f.read).catch(() => undefined) : undefined;
      out[f.kind].push({
        path: f.path,
        rank: taskId(f.rank),
        bytes: f.bytes,
        ...(sum === undefined ? {} : { sha256: sum }),
      });
    }
    return out;
  }
}

/** SHA-256, as `sha256sum` prints it. */
async function sha256(read: Range): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(read(0, Infinity), hash);
  return hash.digest('hex');
}
