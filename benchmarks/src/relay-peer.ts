/**
 * The peer of the ping-pong: the least that two programs behind firewalls need to talk, a bare `ws` relay without log,
 * protocol, rings or ranks. Its ends are Node processes or workers of two browser tabs; both send and await whole
 * binary messages.
 */
import { createServer } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';

export interface Relay {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Joins the two ends that connect with the same `?pair=`: what one sends, the other gets. Serves a blank page for the
 * tabs.
 */
export async function startRelay(): Promise<Relay> {
  const http = createServer((_, res) => {
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>relay end</title>');
  });
  const wss = new WebSocketServer({ server: http, perMessageDeflate: false, maxPayload: 64 << 20 });
  const waiting = new Map<string, WebSocket>();
  wss.on('connection', (ws, req) => {
    const pair = new URL(req.url ?? '/', 'http://x').searchParams.get('pair') ?? '';
    const other = waiting.get(pair);
    if (!other) {
      waiting.set(pair, ws);
      return;
    }
    waiting.delete(pair);
    for (const [a, b] of [
      [ws, other],
      [other, ws],
    ] as const) {
      a.on('message', (data: Buffer) => b.send(data, { binary: true }));
      a.on('close', () => b.close());
    }
    for (const end of [ws, other]) end.send('go');
  });
  await new Promise<void>((r) => http.listen(0, '127.0.0.1', r));
  return {
    port: (http.address() as { port: number }).port,
    close: () =>
      new Promise((r) => {
        for (const c of wss.clients) c.terminate();
        http.close(() => r());
      }),
  };
}

/** One measurement: microseconds per round trip of `size` bytes, one figure per batch of `reps` round trips. */
export interface Series {
  size: number;
  usPerRoundTrip: number[];
}

/**
 * The code of an end, as text, because it runs in three places: a Node process, a browser worker, and nowhere else.
 * `Socket` is the WebSocket class; answers the series on the side that leads.
 */
export const END_SOURCE = `
async function relayEnd(Socket, url, leads, plan, now) {
  const ws = new Socket(url);
  ws.binaryType = 'arraybuffer';
  let got;
  let early = [];                     // two messages may come in one turn of the loop
  const next = () => (early.length > 0 ? Promise.resolve(early.shift()) : new Promise((r) => { got = r; }));
  ws.onmessage = (e) => { const g = got; got = undefined; g ? g(e.data) : early.push(e.data); };
  await next();                       // 'go'
  const out = [];
  for (const { size, reps, batches } of plan) {
    const body = new Uint8Array(size);
    const series = [];
    for (let b = -1; b < batches; b++) {   // batch -1 warms up
      const t0 = now();
      for (let i = 0; i < reps; i++) {
        if (leads) { const p = next(); ws.send(body); await p; }
        else { const m = await next(); ws.send(m); }
      }
      if (b >= 0) series.push(((now() - t0) * 1000) / reps);
    }
    out.push({ size, usPerRoundTrip: series });
  }
  if (leads) ws.close();
  else await new Promise((r) => { ws.onclose = r; });   // the last message may still be on its way
  return out;
}`;
