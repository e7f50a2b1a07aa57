/** `mayfly volunteer <url>`: this machine as a node, without a browser, until a signal comes. */
import { availableParallelism, hostname } from 'node:os';
import { startHeadlessNode } from '@mayfly/node/headless';
import { Exit } from '../exit-codes.ts';
import { interrupted } from '../signals.ts';

export interface VolunteerOptions {
  slots?: number;
  name?: string;
  room?: string;
  insecure?: boolean;
  allowTypescript?: boolean;
}

export async function volunteer(server: string, options: VolunteerOptions): Promise<number> {
  // A volunteer is a guest: one core is left to the machine's owner.
  const slots = options.slots ?? Math.max(1, availableParallelism() - 1);
  if (options.insecure) process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const name = (options.name ?? hostname()).slice(0, 80);
  const node = await startHeadlessNode({ server: server.replace(/\/+$/, ''), slots, name, allowTypeScript: options.allowTypescript ?? false, ...(options.room === undefined ? {} : { room: options.room }) });
  const what = options.allowTypescript ? '' : ' for C and C++ programs (WebAssembly)';
  process.stdout.write(`"${name}" offers ${slots} slot${slots === 1 ? '' : 's'}${what} to ${server}; Ctrl-C takes them back\n`);
  await interrupted();
  await node.close();
  return Exit.OK;
}
