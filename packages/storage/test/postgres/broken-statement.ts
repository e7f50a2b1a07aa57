/** Stands between a client and PostgreSQL, and breaks connections in the middle of a statement. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BrokenStatement {
  /** Folder of its socket. */
  folder: string;
  /**
   * What becomes of the next statement with these words: it reaches the server and its answer is lost, it never gets
   * there, or only when `deliver` is called.
   */
  next: 'answer lost' | 'never sent' | 'late' | undefined;
  /** Resolves when the server has answered. */
  deliver?: () => Promise<void>;
  /** From now on nothing passes, and no connection breaks. */
  hold(): void;
  /** Cuts the client off, and lets it come again. */
  cut(off: boolean): void;
  close(): Promise<void>;
}

export async function breakStatements(socket: string, words: string): Promise<BrokenStatement> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-pg-proxy-'));
  const open = new Set<Socket>();
  let away = false;
  const proxy: BrokenStatement = {
    folder,
    next: undefined,
    hold() {
      for (const s of open) s.pause().removeAllListeners('data');
    },
    cut(off) {
      away = off;
      if (off) for (const s of open) s.destroy();
    },
    async close() {
      for (const s of open) s.destroy();
      await new Promise<void>((done) => server.close(() => done()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const server = createServer((client) => {
    if (away) return void client.destroy();
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
      const how = chunk.includes(words) ? proxy.next : undefined;
      if (how === undefined) return void upstream.write(chunk);
      proxy.next = undefined;
      if (how === 'late') {
        client.removeAllListeners('close');
        upstream.removeAllListeners('data');
        proxy.deliver = async () => {
          upstream.write(chunk);
          await once(upstream, 'data');
          upstream.end();
        };
      }
      if (how !== 'answer lost') return void client.destroy();
      deaf = true;
      upstream.write(chunk);
    });
  });
  await new Promise<void>((ready) => server.listen(join(folder, '.s.PGSQL.5432'), ready));
  return proxy;
}
