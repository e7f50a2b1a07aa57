/**
 * `mayfly checkpoint <job>`: images on demand. Exit code 0 when every rank that was asked has a new complete image (or
 * has ended).
 */
import type { JobView } from '@mayfly/wire';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { Exit } from '../exit-codes.ts';
import { say, warn } from '../terminal.ts';

export interface CheckpointOptions extends ConnectionOptions {
  task?: number;
  wait: boolean;
  /** Seconds. */
  timeout?: number;
}

const LOOK_MS = 200;
const OVER = new Set<JobView['state']>(['done', 'failed', 'cancelled']);

export async function checkpoint(id: string, options: CheckpointOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    const serials = new Map<number, number>();
    for (const i of await client.images(id)) serials.set(i.task, Math.max(serials.get(i.task) ?? 0, i.serial));
    const asked =
      options.task === undefined
        ? (await client.checkpoint(id)).asked
        : (await client.checkpointTask(id, options.task), [options.task]);
    if (asked.length === 0) {
      say('every rank has ended');
      return Exit.OK;
    }
    if (!options.wait) {
      say(`asked ${ranks(asked)}`);
      return Exit.OK;
    }
    const left = new Set(asked);
    const until = options.timeout === undefined ? Infinity : Date.now() + options.timeout * 1000;
    for (;;) {
      const job = await client.job(id);
      for (const image of await client.images(id))
        if (left.has(image.task) && image.serial > (serials.get(image.task) ?? 0)) {
          left.delete(image.task);
          say(`rank ${image.task}: checkpoint of ${image.bytes} bytes stored`);
        }
      for (const t of job.tasks)
        if ((t.state === 'done' || t.state === 'failed') && left.delete(t.task)) say(`rank ${t.task}: has ended`);
      if (left.size === 0 || OVER.has(job.state)) return Exit.OK;
      if (Date.now() > until) {
        warn(`no new checkpoint yet of ${ranks([...left])}: a rank takes it at its next MPI call`);
        return Exit.FAILED;
      }
      await new Promise((go) => setTimeout(go, LOOK_MS));
    }
  } finally {
    await client.close();
  }
}

const ranks = (list: readonly number[]): string => `${list.length === 1 ? 'rank' : 'ranks'} ${list.join(', ')}`;
