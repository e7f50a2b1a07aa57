/**
 * Checkpoints (paper: Figure 9). Left: from the beginning of a checkpoint until its image is complete on the Checkpoint
 * Server, and from a restart's assignment until the rank runs again out of that image, by size. Right: the same for
 * several ranks at once ("the CS provides a fair service for multiple nodes"). The peer brings the same bytes over a
 * bare WebSocket to a synced file and back.
 *
 * No goal is set; the run fails when the whole trip takes more than four times the peer's.
 */
import { draw } from './chart.ts';
import { MayflySide } from './mayfly-side.ts';
import { quick, usually } from './short.ts';
import { storeAndFetch } from './store-peer.ts';
import { bytes, deviation, mean, median, ms, percent, print, times } from './table.ts';

const SIZES_MB = usually([1, 4, 16, 64], [1]);
const AT_ONCE = usually([1, 2, 4, 7], [1, 2]);
const AT_ONCE_MB = 4;
const REPEATS = usually(3, 1);
const LIMIT = 4;

interface ImageView {
  task: number;
  serial: number;
  at: number;
}
interface Trip {
  stallMs: number;
  /** Until the image was complete. */
  storedMs: number;
  /** Until the restarted rank ran. */
  backMs: number;
}

class Checkpoints {
  private rounds = 0;
  private constructor(
    private readonly side: MayflySide,
    private readonly id: string,
  ) {}

  static async start(ranks: number, megabytes: number): Promise<Checkpoints> {
    const side = await MayflySide.start();
    await side.headless(ranks, 1);
    return new Checkpoints(
      side,
      await side.submit('image', ranks, [String(megabytes)], { interactive: true, checkpointMs: 86_400_000 }),
    );
  }

  private async say(line: string): Promise<void> {
    await this.side.post(`/api/jobs/${this.id}/stdin`, new TextEncoder().encode(`${line}\n`));
  }

  /** The first `count` ranks take a checkpoint at once, and are restarted at once from it. */
  async trip(count: number): Promise<Trip[]> {
    await this.say(`take ${count}`);
    const round = ++this.rounds;
    let said = '';
    await this.side.until(
      this.id,
      'the checkpoints',
      async () => (said = (await this.output())[round - 1] ?? '') !== '',
    );
    const taken = JSON.parse(said) as { stallMs: number; at: number }[];
    const newest = new Map<number, ImageView>();
    await this.side.until(this.id, 'complete images', async () => {
      for (const i of await this.side.get<ImageView[]>(`/api/jobs/${this.id}/images`))
        if (i.serial >= (newest.get(i.task)?.serial ?? 0)) newest.set(i.task, i);
      return taken.every((t, task) => (newest.get(task)?.at ?? 0) >= t.at);
    });
    const before = (await this.side.job(this.id)).faults.length;
    await Promise.all(taken.map((_, task) => this.side.post(`/api/jobs/${this.id}/tasks/${task}/kill`)));
    const view = await this.side.until(
      this.id,
      'restarted',
      (j) =>
        j.faults.length >= before + count &&
        j.faults.every((f) => f.startedAfterMs !== undefined && f.recoveredAfterMs !== undefined),
    );
    const faults = view.faults.slice(before);
    return taken.map((t, task) => {
      const f = faults.find((x) => x.task === task)!;
      return {
        stallMs: t.stallMs,
        storedMs: newest.get(task)!.at - t.at,
        backMs: f.startedAfterMs! - f.assignedAfterMs!,
      };
    });
  }

  private async output(): Promise<string[]> {
    return (await this.side.text(`/api/jobs/${this.id}/tasks/0/stdout`)).split('\n').filter(Boolean);
  }

  async stop(): Promise<void> {
    await this.say('end');
    await this.side.done(this.id);
    await this.side.stop();
  }
}

async function repeated(ranks: number, megabytes: number, count: number): Promise<Trip[][]> {
  const c = await Checkpoints.start(ranks, megabytes);
  const trips: Trip[][] = [];
  for (let i = 0; i < REPEATS; i++) trips.push(await c.trip(count));
  await c.stop();
  return trips;
}

export async function images(): Promise<boolean> {
  let held = true;
  const bySize: [number, number][] = [];
  const peerBySize: [number, number][] = [];
  const rows: string[][] = [];
  for (const mb of SIZES_MB) {
    const trips = (await repeated(1, mb, 1)).flat();
    const peers = [];
    for (let i = 0; i < REPEATS; i++) peers.push(...(await storeAndFetch(mb << 20, 1)));
    const [stall, stored, back] = [
      median(trips.map((t) => t.stallMs)),
      median(trips.map((t) => t.storedMs)),
      median(trips.map((t) => t.backMs)),
    ];
    const [peerStored, peerAll] = [median(peers.map((p) => p.storedMs)), median(peers.map((p) => p.backMs))];
    rows.push([
      bytes(mb << 20),
      ms(stall),
      ms(stored),
      ms(back),
      ms(stored + back),
      ms(peerStored),
      ms(peerAll),
      times((stored + back) / peerAll),
    ]);
    bySize.push([mb, stored + back]);
    peerBySize.push([mb, peerAll]);
    if (mb >= 16 && (stored + back) / peerAll > LIMIT) held = false;
  }
  console.log(
    `\nround trip of a checkpoint by size of the registered data, one rank on a headless node; median of ${REPEATS}`,
  );
  print(['size', 'stall', 'until complete', 'until restarted', 'both', 'peer: stored', 'peer: both', 'ratio'], rows);

  const atOnce: string[][] = [];
  const curve: [number, number][] = [];
  for (const count of AT_ONCE) {
    const trips = await repeated(Math.max(...AT_ONCE), AT_ONCE_MB, count);
    const both = trips.map((round) => round.map((t) => t.storedMs + t.backMs));
    const peer = mean((await storeAndFetch(AT_ONCE_MB << 20, count)).map((p) => p.backMs));
    const each = median(both.map(mean));
    atOnce.push([
      String(count),
      ms(each),
      count === 1 ? '' : percent(median(both.map(deviation))),
      ms(peer),
      times(each / peer),
    ]);
    curve.push([count, each]);
  }
  console.log(`\nseveral ranks at once, ${AT_ONCE_MB} MB each; mean over the ranks`);
  print(['ranks', 'both', 'spread', 'peer: both', 'ratio'], atOnce);
  await draw('checkpoint-size', {
    title: 'Round trip of a checkpoint by size',
    x: { label: 'MB of registered data', log: true },
    y: { label: 'ms' },
    series: [
      { name: 'mayfly', points: bySize },
      { name: 'bare socket and synced file', points: peerBySize },
    ],
  });
  await draw('checkpoint-at-once', {
    title: `Round trip of a checkpoint by number of ranks at once, ${AT_ONCE_MB} MB each`,
    x: { label: 'ranks at once' },
    y: { label: 'ms' },
    series: [{ name: 'mayfly', points: curve }],
  });
  console.log(
    '\nThe data is random integers in doubles: the server knows none of the pages, and each deflates to a ' +
      'good half. Not measured: tabs, a network, and the copy in the browser\n(a restart on the same node, as ' +
      'here, may use it). "Until restarted" includes starting a thread and fetching the program.',
  );
  return quick(held);
}
