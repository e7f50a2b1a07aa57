/**
 * The peer of the checkpoint benchmarks: the least that brings bytes to a disk elsewhere and back. A process of its own
 * takes binary messages into a file, makes them durable, and sends them back in messages of the same size; no log,
 * hash, manifest or rank.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { lineOf } from './mayfly-side.ts';

const CHUNK = 64 << 10;

async function serve(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'mayfly-store-'));
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  let next = 0;
  wss.on('connection', (ws) => {
    const parts: Buffer[] = [];
    const store = async (): Promise<void> => {
      const file = await open(join(dir, String(next++)), 'w+');
      for (const p of parts) await file.write(p);
      await file.datasync();
      ws.send('stored');
      const back = Buffer.alloc(CHUNK);
      for (let at = 0, n = 1; n > 0; at += n) {
        n = (await file.read(back, 0, CHUNK, at)).bytesRead;
        if (n > 0) ws.send(Buffer.from(back.subarray(0, n)));
      }
      ws.send('sent');
      await file.close();
    };
    ws.on('message', (data: Buffer, binary) => {
      if (binary) parts.push(data);
      else void store();
    });
  });
  wss.on('listening', () => process.stdout.write(`${(wss.address() as { port: number }).port}\n`));
  process.on('disconnect', () => void rm(dir, { recursive: true, force: true }).then(() => process.exit(0)));
}

/**
 * Milliseconds until `bytes` bytes are durable elsewhere, and until they are back, for each of `ends` simultaneous
 * ends.
 */
export async function storeAndFetch(bytes: number, ends: number): Promise<{ storedMs: number; backMs: number }[]> {
  const server = spawn(process.execPath, [fileURLToPath(new URL('store-peer.js', import.meta.url)), 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const port = await lineOf(server, (l) => l);
    const chunk = new Uint8Array(CHUNK).map((_, i) => i);
    const one = async (): Promise<{ storedMs: number; backMs: number }> => {
      const ws = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
      await new Promise((r) => ws.once('open', r));
      const t0 = performance.now();
      let stored = 0;
      const back = new Promise<number>((resolve) =>
        ws.on('message', (data: Buffer, binary) => {
          if (binary) return;
          if (data.toString() === 'stored') stored = performance.now() - t0;
          else resolve(performance.now() - t0);
        }),
      );
      for (let at = 0; at < bytes; at += CHUNK) ws.send(chunk.subarray(0, Math.min(CHUNK, bytes - at)));
      ws.send('end');
      const all = await back;
      ws.close();
      return { storedMs: stored, backMs: all };
    };
    return await Promise.all(Array.from({ length: ends }, one));
  } finally {
    server.disconnect();
  }
}

if (process.argv[2] === 'serve' && process.argv[1]?.endsWith('store-peer.js')) await serve();
