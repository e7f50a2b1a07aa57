/** A server and headless nodes inside this process, for `mpiexec` without a server and for the demo. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHeadlessNode } from '@mayfly/node/headless';
import { createServer, MOST_RANK_MEMORY, type MayflyServer } from '@mayfly/server';
import { VERSION } from './version.ts';

/** The most slots that one headless node offers. */
const SLOTS_PER_NODE = 64;

export interface Embedded {
  readonly server: MayflyServer;
  readonly token: string;
  /** Starts headless nodes with so many slots together. */
  addSlots(slots: number): Promise<void>;
  close(): Promise<void>;
}

/** On a free port of this machine, with a data directory that goes when it is closed. */
export async function startEmbedded(
  log: 'silent' | 'warn' = process.env.MAYFLY_DEBUG ? 'warn' : 'silent',
): Promise<Embedded> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mayfly-'));
  const token = randomBytes(24).toString('hex');
  const server = await createServer({
    dataDir,
    port: 0,
    host: '127.0.0.1',
    token,
    log: log === 'silent' ? 'silent' : { level: log, stream: process.stderr },
    version: VERSION,
    limits: { rankMemoryBytes: MOST_RANK_MEMORY },
    // All nodes are this process's own.
    dispatcher: { trustNewcomers: true },
  });
  const nodes: { close(): Promise<void> | void }[] = [];
  return {
    server,
    token,
    async addSlots(slots) {
      for (let left = slots; left > 0; left -= SLOTS_PER_NODE)
        nodes.push(
          await startHeadlessNode({
            server: server.localUrl,
            allowTypeScript: true,
            slots: Math.min(left, SLOTS_PER_NODE),
            name: `this machine ${nodes.length + 1}`,
          }),
        );
    },
    async close() {
      for (const node of nodes) await node.close();
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
