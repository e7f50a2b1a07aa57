/**
 * What watching costs: the page of a job of 256 ranks with 2,000 messages and a lost rank every two seconds, in a real
 * Chromium against a real server. By view: milliseconds of the page's main thread per second, frames that did not come,
 * and bytes from the server, against a budget. The budget is of the thread's processor time, which other load does not
 * change much; how long its tasks took by the clock stands beside it.
 *
 * 256 workers with programs would be what is measured on a machine of a few cores: the ranks are scripted
 * (scripted-node.ts), their sockets, heartbeats, messages and restarts are real.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from '@playwright/test';
import type { TaskId } from '@mayfly/wire';
import { MayflySide, TOKEN, launchBrowser } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { percent, print } from './table.ts';
import { ScriptedNode } from './scripted-node.ts';

const RANKS = usually(256, 16);
const NODES = usually(16, 4);
const PER_SECOND = usually(2000, 200);
const CRASH_EVERY_MS = 2000;
const MEASURE_S = usually(15, 1);
/** Of the main thread per second; of 60 frames a second; from the server per second. */
const BUDGET = { mainMs: 150, dropped: 0.05, bytes: 100_000 };

/** What is there once a view is. */
const DRAWN: Record<string, string> = { timeline: 'timeline', messages: 'matrix', charts: 'chart-reading' };

interface Sample {
  /** Processor time. */
  mainMs: number;
  /** The same tasks by the clock. */
  wallMs: number;
  dropped: number;
  bytes: number;
}

/** A seeded generator (mulberry32): every run sees the same script. */
function seeded(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Sends PER_SECOND messages a second to neighbours in a ring, and some across; takes ranks down now and then. */
function play(nodes: ScriptedNode[], random: () => number): { stop(): void } {
  let due = 0;
  let last = performance.now();
  const sending = setInterval(() => {
    const now = performance.now();
    due = Math.min(PER_SECOND / 4, due + ((now - last) * PER_SECOND) / 1000);
    last = now;
    for (; due >= 1; due--) {
      const node = nodes[Math.floor(random() * nodes.length)]!;
      const { ranks } = node;
      const src = ranks[Math.floor(random() * ranks.length)];
      if (src === undefined) continue;
      const dst = random() < 0.9 ? (src + (random() < 0.5 ? 1 : RANKS - 1)) % RANKS : (src + 64) % RANKS;
      node.send(src, dst as TaskId, Math.floor(random() * 8));
    }
  }, 20);
  const crashing = setInterval(() => {
    const node = nodes[Math.floor(random() * nodes.length)]!;
    const { ranks } = node;
    const victim = ranks[Math.floor(random() * ranks.length)];
    if (victim !== undefined) node.crash(victim);
  }, CRASH_EVERY_MS);
  return {
    stop: () => {
      clearInterval(sending);
      clearInterval(crashing);
    },
  };
}

/** Each session counts in its own domain: by the clock, or by what the thread had of a processor. */
interface Counters {
  wall: CDPSession;
  thread: CDPSession;
}
const busy = async (session: CDPSession): Promise<number> =>
  (await session.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')!.value * 1000;

async function measure(page: Page, cdp: CDPSession, c: Counters): Promise<Sample> {
  let bytes = 0;
  const got = (e: { response: { payloadData: string; opcode: number } }): void =>
    void (bytes +=
      e.response.opcode === 1 ? Buffer.byteLength(e.response.payloadData) : (e.response.payloadData.length * 3) / 4);
  const data = (e: { encodedDataLength: number; dataLength: number }): void =>
    void (bytes += e.encodedDataLength || e.dataLength);
  cdp.on('Network.webSocketFrameReceived', got);
  cdp.on('Network.dataReceived', data);
  const before = [await busy(c.wall), await busy(c.thread)] as const;
  const frames = await page.evaluate(
    (ms) =>
      new Promise<{ passed: number; missed: number }>((resolve) => {
        const begin = performance.now();
        let last = begin;
        let missed = 0;
        const frame = (now: number): void => {
          missed += Math.max(0, Math.round((now - last) / (1000 / 60)) - 1);
          last = now;
          if (now - begin < ms) requestAnimationFrame(frame);
          else resolve({ passed: now - begin, missed });
        };
        requestAnimationFrame((now) => ((last = now), frame(now)));
      }),
    MEASURE_S * 1000,
  );
  const seconds = frames.passed / 1000;
  const sample = {
    wallMs: ((await busy(c.wall)) - before[0]) / seconds,
    mainMs: ((await busy(c.thread)) - before[1]) / seconds,
    dropped: frames.missed / (seconds * 60),
    bytes: bytes / seconds,
  };
  cdp.off('Network.webSocketFrameReceived', got);
  cdp.off('Network.dataReceived', data);
  return sample;
}

export async function live(): Promise<boolean> {
  const side = await MayflySide.start();
  const random = seeded(256);
  const nodes: ScriptedNode[] = [];
  const browser = await launchBrowser();
  let script: { stop(): void } | undefined;
  try {
    const id = await side.submitText('live', 'export {};', RANKS);
    for (let i = 0; i < NODES; i++) nodes.push(new ScriptedNode(side.url, RANKS / NODES + 1, `scripted ${i}`, random));
    await side.until(id, 'running on every rank', (j) => j.tasks.every((t) => t.state === 'running'), 200);
    script = play(nodes, random);
    const page = await (await browser.newContext({ viewport: { width: 1400, height: 1000 } })).newPage();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Network.enable');
    const counters = { wall: cdp, thread: await page.context().newCDPSession(page) };
    await counters.wall.send('Performance.enable', { timeDomain: 'timeTicks' });
    await counters.thread.send('Performance.enable', { timeDomain: 'threadTicks' });
    const open = async (view: string): Promise<void> => {
      await page.goto(`${side.url}/dashboard/jobs/${id}?view=${view}&token=${TOKEN}`);
      await (view === 'overview' ? page.getByRole('listbox') : page.getByTestId(DRAWN[view]!)).waitFor();
    };
    const rows: string[][] = [];
    let held = true;
    const row = async (what: string, judged = true): Promise<void> => {
      await sleep(3000);
      const sent = nodes.reduce((n, x) => n + x.sent, 0);
      const s = await measure(page, cdp, counters);
      const rate = (nodes.reduce((n, x) => n + x.sent, 0) - sent) / MEASURE_S;
      rows.push([
        what,
        `${Math.round(rate)}/s`,
        `${s.mainMs.toFixed(0)} ms`,
        `${s.wallMs.toFixed(0)} ms`,
        percent(s.dropped),
        `${(s.bytes / 1000).toFixed(1)} kB`,
      ]);
      if (judged && (s.mainMs > BUDGET.mainMs || s.dropped > 2 * BUDGET.dropped || s.bytes > 2 * BUDGET.bytes))
        held = false;
    };
    await page.goto('about:blank');
    await row('nothing (an empty page)', false);
    await open('overview');
    await row('overview, a tile per rank');
    await open('timeline');
    await row('time line, whole run');
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await row('time line, the last seconds');
    await page.getByLabel('Messages as arrows').check();
    await row('the same with arrows');
    await open('messages');
    await row('matrix, 64 × 64 bins');
    await open('charts');
    await row('charts');
    console.log(
      `\n${RANKS} ranks on ${NODES} scripted nodes, ${PER_SECOND} messages a second and a lost rank every ` +
        `${CRASH_EVERY_MS / 1000} s; per second of ${MEASURE_S} s, at 1400 × 1000`,
    );
    print(
      [
        '',
        'messages',
        `main thread (budget ${BUDGET.mainMs} ms)`,
        'by the clock',
        `dropped frames (${percent(BUDGET.dropped, 0)})`,
        `from the server (${BUDGET.bytes / 1000} kB)`,
      ],
      rows,
    );
    console.log(
      '\nNot measured: programs in the ranks (they are scripted), a graphics card (the canvas is drawn by ' +
        'the processor here), several viewers.',
    );
    return quick(held);
  } finally {
    script?.stop();
    for (const n of nodes) n.close();
    await browser.close();
    await side.stop();
  }
}
