/**
 * `mayfly verify <job>`: runs an ended job once more and compares exit code, standard output of every rank and result
 * files, byte for byte. Exit code 0: all equal. What that means and what not: docs/trust.md.
 */
import type { JobView } from '@mayfly/wire';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { follow } from '../follow.ts';
import { say, sayLine, warn } from '../terminal.ts';

export interface VerifyOptions extends ConnectionOptions {
  /** A code, or one for each cluster; null: volunteers without a room. */
  room?: string | null | (string | null)[];
}

/** What a job said and wrote, by name. */
export type Said = Map<string, Uint8Array>;

/** Sentences about what is not the same; none: all equal. */
export function differences(a: Said, b: Said): string[] {
  const out: string[] = [];
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const [x, y] = [a.get(name), b.get(name)];
    if (x === undefined || y === undefined) {
      out.push(`${name}: only in the ${x === undefined ? 'second' : 'first'} run`);
      continue;
    }
    const at = x.findIndex((byte, i) => byte !== y[i]);
    if (at >= 0 && at < y.length) out.push(`${name}: differs from byte ${at} on`);
    else if (x.length !== y.length) out.push(`${name}: ${x.length} bytes in the first run, ${y.length} in the second`);
  }
  return out;
}

export async function verify(id: string, options: VerifyOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    const first = await client.job(id);
    if (first.endedAt === undefined) throw new CommandError(`job ${id} has not ended (${first.state})`, Exit.FAILED);
    if (first.state === 'cancelled')
      throw new CommandError(`job ${id} was cancelled: there is nothing to compare`, Exit.FAILED);
    const again = await client.again(id, options.room);
    warn(`running it again as job ${again.id}, with the same input and seed`);
    const second = await follow(client, again.id, { job: () => undefined, output: () => undefined });
    if (second.state === 'cancelled') throw new CommandError(`job ${again.id} was cancelled`, Exit.FAILED);
    const found = differences(await all(client, first), await all(client, second));
    if (found.length === 0)
      say(
        `equal: ${id} and ${again.id}, exit code, standard output of ${first.size} ` +
          `rank${first.size === 1 ? '' : 's'} and ${first.outputs.length} result ` +
          `file${first.outputs.length === 1 ? '' : 's'}, byte for byte`,
      );
    else for (const line of found) sayLine(line);
    return found.length === 0 ? Exit.OK : Exit.FAILED;
  } finally {
    await client.close();
  }
}

async function all(client: Client, job: JobView): Promise<Said> {
  const said: Said = new Map([
    ['exit code', new TextEncoder().encode(`${job.state} ${job.exitCode ?? job.error?.code ?? ''}`)],
  ]);
  for (let task = 0; task < job.size; task++) {
    const parts: Uint8Array[] = [];
    for (let from = 0; ;) {
      const bytes = await client.output(job.id, task, 'stdout', from);
      if (bytes.length === 0) break;
      parts.push(bytes);
      from += bytes.length;
    }
    said.set(`standard output of rank ${task}`, Buffer.concat(parts));
  }
  for (const { path } of job.outputs) said.set(path, await client.file(job.id, path));
  return said;
}
