/** Stands between a client and PostgreSQL, and breaks connections in the middle of COMMIT. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BrokenCommit {
  /** Folder of its socket. */
  folder: string;
  /** What becomes of the next COMMIT: it reaches the server and its answer is lost, or it never gets there. */
  next: 'answer lost' | 'never sent' | undefined;
  close(): Promise<void>;
}

export async function breakCommits(socket: string): Promise<BrokenCommit> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-pg-proxy-'));
  const open = new Set<Socket>();
  const proxy: BrokenCommit = {
    folder,
    next: undefined,
    async close() {
      for (const s of open) s.destroy();
      await new Promise<void>((done) => server.close(() => done()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const server = createServer((client) => {
    const upstream = createConnection(socket);
    let deaf = false;
    for (const s of [client, upstream]) {
      open.add(s);
      s.on('error', () => undefined);
    }
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
    upstream.on('data', (chunk) => {
      if (!deaf) client.write(chunk);
      // The server has ended the transaction.
      else client.destroy();
    });
    client.on('data', (chunk) => {
      const how = chunk.includes('COMMIT\0') ? proxy.next : undefined;
      if (how === undefined) return void upstream.write(chunk);
      proxy.next = undefined;
      if (how === 'never sent') return void client.destroy();
      deaf = true;
      upstream.write(chunk);
    });
  });
  await new Promise<void>((ready) => server.listen(join(folder, '.s.PGSQL.5432'), ready));
  return proxy;
}
