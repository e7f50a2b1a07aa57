/**
 * The world's end of a fabric for files: the server's own file service over files in memory; answers go to the inboxes
 * of the ranks.
 */
import type { Worker } from 'node:worker_threads';
import { MemoryFiles } from '@mayfly/protocols';
import { FILES, SpawnRefusal, WorldMode, taskId, type SpawnGroup } from '@mayfly/wire';
import { append } from './log-device.ts';

/** What a rank's thread posts. */
export interface ToWorld {
  world: { task: number; n: number; mode: number; body: Uint8Array };
}

export class FileServer {
  readonly files: MemoryFiles;

  constructor(
    private readonly inboxes: readonly SharedArrayBuffer[],
    inputs: Record<string, Uint8Array> = {},
    limit = 1 << 26,
    /** Tasks at the start; the other inboxes are for those that are spawned. Whoever starts these. */
    private readonly spawns?: { size: number; start: (group: SpawnGroup) => void },
  ) {
    const size = spawns?.size ?? inboxes.length;
    // Every second time they are told to ask again.
    let asked = 0;
    this.files = new MemoryFiles(limit, new Map(Object.entries(inputs)), size, (count) =>
      this.files.service.tasksOfJob + count > inboxes.length
        ? SpawnRefusal.SLOTS
        : ++asked % 2 === 1
          ? SpawnRefusal.LEAVING
          : 0,
    );
  }

  /** Serves what a worker posts until `stop`. */
  serve(worker: Worker): () => void {
    const listen = (m: Partial<ToWorld>): void => {
      if (m.world) this.deliver(m.world);
    };
    worker.on('message', listen);
    return () => worker.off('message', listen);
  }

  private deliver({ task, n, mode, body }: ToWorld['world']): void {
    if (mode !== WorldMode.REQUEST && mode !== WorldMode.FILE && mode !== WorldMode.CUT) return;
    const before = this.files.service.spawned.length;
    const a = this.files.deliver(taskId(task), n, mode, body);
    for (const group of this.files.service.spawned.slice(before)) this.spawns?.start(group);
    if (a) append(this.inboxes[task]!, FILES | 0, WorldMode.ANSWER, a.error, 0, 0, a.body);
  }

  /** Result files. */
  results(): Record<string, Uint8Array> {
    return Object.fromEntries(this.files.files);
  }
}
