/**
 * `mayfly pause <job>` and `mayfly resume <job>`: give the slots of a job back, with images of its ranks, and let it go
 * on later.
 */
import type { JobView } from '@mayfly/wire';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { Exit } from '../exit-codes.ts';
import { sayLine } from '../terminal.ts';

export interface PauseOptions extends ConnectionOptions {
  /** commander: `--no-wait`. */
  wait: boolean;
  /** Seconds that ranks have for an image. */
  images?: number;
}

const LOOK_MS = 200;
const says = (job: JobView): string => `job ${job.id} ${job.state}${job.reason === undefined ? '' : `: ${job.reason}`}`;

export async function pause(id: string, options: PauseOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    await client.pause(id, options.images === undefined ? undefined : Math.round(options.images * 1000));
    let job = await client.job(id);
    while (options.wait && job.state === 'pausing') {
      await new Promise((go) => setTimeout(go, LOOK_MS));
      job = await client.job(id);
    }
    sayLine(says(job));
    return job.state === 'failed' ? Exit.FAILED : Exit.OK;
  } finally {
    await client.close();
  }
}

export async function resume(id: string, options: ConnectionOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    await client.resume(id);
    sayLine(says(await client.job(id)));
    return Exit.OK;
  } finally {
    await client.close();
  }
}
