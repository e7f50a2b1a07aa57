/**
 * The peer of the contention benchmark, in one file run as two kinds of processes: `relay-ring.js serve` joins the ends
 * of a ring without log, protocol or ranks (what end i sends, end i + 1 gets); `relay-ring.js end <url> <plan>` is one
 * end and prints its series.
 */
import { WebSocket, WebSocketServer } from 'ws';
import type { RingPlan } from './contention.ts';

function serve(): void {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false, maxPayload: 64 << 20 });
  const rings = new Map<string, (WebSocket | undefined)[]>();
  wss.on('connection', (ws, req) => {
    const q = new URL(req.url ?? '/', 'http://x').searchParams;
    const [id, of, end] = [q.get('ring')!, Number(q.get('of')), Number(q.get('end'))];
    const ring = rings.get(id) ?? Array<WebSocket | undefined>(of).fill(undefined);
    rings.set(id, ring);
    ring[end] = ws;
    ws.on('message', (data: Buffer) => ring[(end + 1) % of]!.send(data, { binary: true }));
    if (ring.every(Boolean)) for (const e of ring) e!.send('go');
  });
  wss.on('listening', () => process.stdout.write(`${(wss.address() as { port: number }).port}\n`));
  process.on('disconnect', () => process.exit(0));
}

async function end(url: string, plan: RingPlan[]): Promise<void> {
  const ws = new WebSocket(url, { perMessageDeflate: false });
  let come = 0;
  let wanted = 0;
  let wake: (() => void) | undefined;
  ws.on('message', () => {
    if (++come >= wanted) wake?.();
  });
  // The first message is 'go'. A left neighbour may run ahead, so that a count is all that has to be kept.
  const more = (count: number): Promise<void> => {
    wanted += count;
    return come >= wanted ? Promise.resolve() : new Promise((r) => (wake = r));
  };
  await more(1);
  const out: number[][] = [];
  for (const { size, window, reps, batches } of plan) {
    const body = new Uint8Array(size);
    const series: number[] = [];
    for (let b = -1; b < batches; b++) {
      const t0 = performance.now();
      for (let i = 0; i < reps; i++) {
        for (let w = 0; w < window; w++) ws.send(body);
        await more(window);
      }
      if (b >= 0) series.push(((performance.now() - t0) * 1000) / reps);
    }
    out.push(series);
  }
  process.stdout.write(JSON.stringify(out) + '\n', () => setTimeout(() => process.exit(0), 500));
}

const [kind, url, plan] = process.argv.slice(2);
if (kind === 'serve') serve();
else await end(url!, JSON.parse(plan!) as RingPlan[]);
