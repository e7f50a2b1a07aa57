/**
 * Runs a hostile client against a real server beside an honest job, and judges what became of both (RULES in way.ts).
 *
 * Owns: the server, its volunteer and the watcher. They serve one way after the other; a way that has got through, or
 * one that needs other options, gets new ones.
 *
 *  R1  Every limit of time is multiplied by how slow the machine is: how long a fixed piece of work takes, right before
 *      the way, all the while, and right after it, whichever is most.
 *  R2  No job of one way outlives it.
 */
import { ServerProcess } from '../../server.ts';
import { HeadlessProcess } from '../../nodes/headless.ts';
import { Hostile, within } from './hostile.ts';
import { Scene } from './scene.ts';
import { Watcher } from './watcher.ts';
import type { Way } from './way.ts';

/** Two answers of /api/info. */
const GAP_MS = 2000;
/** Of the whole process; without an attack it has some 150 MB. */
const RSS_BYTES = 512 << 20;
const FRESH_BYTES = RSS_BYTES / 2;
/** For a way itself, and for what it leaves to be gone. */
const WAY_MS = 240_000;
/** A way that hangs is not waited for much longer on a machine that crawls. */
const SLOWEST = 4;
const GONE_MS = 8000;
/** Some come and go without an attacker: the honest job's own, and those of whoever looks on. */
const SPARE_SOCKETS = 24;
const MIB = 2 ** 20;

export interface ClientVerdict {
  way: string;
  /** What did not hold; empty: it has led nowhere. */
  broken: string[];
  ms: number;
  gapMs: number;
  rss: number;
  slowness: number;
  laps: number;
}

interface Stage {
  args: string;
  scene: Scene;
  volunteer: HeadlessProcess;
  tokens: { submitter: string; viewer: string };
  room: string;
  spoiled: boolean;
}

export class ClientArena {
  #stage: Stage | undefined;
  #count = 0;

  get log(): string {
    return this.#stage?.scene.server.log ?? '';
  }

  async run(way: Way): Promise<ClientVerdict> {
    const began = performance.now();
    const stage = await this.#stageFor(way.server ?? []).catch((e: unknown) => e as Error);
    if (stage instanceof Error) {
      const broken = [`the server did not start: ${stage.message.split('\n').slice(0, 2).join(' ')}`];
      return { way: way.name, broken, ms: performance.now() - began, gapMs: 0, rss: 0, slowness: 1, laps: 0 };
    }
    const { scene, tokens, room } = stage;
    const { watcher, server } = scene;
    const before = await watcher.slowness();
    const honest = await scene.honest(before);
    const sockets = watcher.sockets();
    const { slots } = await scene.info();
    await watcher.read();

    honest.go();
    const attacker = new Hostile(server.url, `127.66.${this.#count >> 8}.${++this.#count & 255}`, tokens, room, before);
    const broken = await this.#attempt(way, attacker, scene, before);
    attacker.leave();
    await scene.cancelOthers().catch(() => undefined);
    broken.push(...(await honest.end()));
    const seen = await watcher.read();
    const slowness = Math.max(before, seen.slowness, await watcher.slowness().catch(() => 1));
    broken.push(...honest.late(slowness));
    if (seen.gapMs > GAP_MS * slowness)
      broken.push(
        `/api/info had no answer for ${Math.round(seen.gapMs)} ms; ${Math.round(GAP_MS * slowness)} are allowed`,
      );
    if (seen.rss > RSS_BYTES)
      broken.push(`the server had ${Math.round(seen.rss / MIB)} MiB of memory; ${RSS_BYTES / MIB} are allowed`);
    broken.push(
      ...(await this.#leftBehind(scene, { sockets, slots }, slowness).catch(() => [
        'the server has ended, or does not answer',
      ])),
    );
    stage.spoiled = broken.length > 0 || seen.rss > FRESH_BYTES;
    return {
      way: way.name,
      broken,
      ms: performance.now() - began,
      gapMs: seen.gapMs,
      rss: seen.rss,
      slowness,
      laps: honest.laps,
    };
  }

  async #attempt(way: Way, attacker: Hostile, scene: Scene, slowness: number): Promise<string[]> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string[]>((resolve) => {
      timer = setTimeout(() => resolve(['the way itself did not end']), WAY_MS * Math.min(slowness, SLOWEST));
    });
    return Promise.race([way.run(attacker, scene), late])
      .catch((e: unknown) => [`the way itself stopped: ${e instanceof Error ? e.message.split('\n')[0] : String(e)}`])
      .finally(() => clearTimeout(timer));
  }

  async #leftBehind(scene: Scene, before: { sockets: number; slots: number }, slowness: number): Promise<string[]> {
    const broken: string[] = [];
    const most = before.sockets + SPARE_SOCKETS;
    if (!(await within(GONE_MS * slowness, () => scene.watcher.sockets() <= most)))
      broken.push(
        `${scene.watcher.sockets() - before.sockets} sockets of the server stay open after the attacker ` + 'has left',
      );
    if (!(await within(GONE_MS * slowness, async () => (await scene.info()).slots <= before.slots)))
      broken.push(`${(await scene.info()).slots - before.slots} slots are left of nodes that are gone`);
    return broken;
  }

  async #stageFor(options: readonly string[]): Promise<Stage> {
    const args = options.join(' ');
    if (this.#stage && (this.#stage.spoiled || this.#stage.args !== args)) await this.close();
    if (this.#stage) return this.#stage;
    const server = await ServerProcess.start(['--log', 'info', ...options]);
    const watcher = new Watcher(server.url, server.pid!);
    const scene = new Scene(server, watcher);
    try {
      const token = async (role: string): Promise<string> =>
        (await scene.owner.json<{ token: string }>('POST', '/api/tokens', { name: `mallory-${role}`, role })).token;
      const { code } = await scene.owner.json<{ code: string }>('POST', '/api/rooms', { name: 'of mallory' });
      // Where the server has a join code of its own, honest volunteers know it.
      const at = options.indexOf('--room');
      const volunteer = await HeadlessProcess.start(server.url, 'honest', 2, {}, [
        '--allow-typescript',
        ...(at < 0 ? [] : ['--room', options[at + 1]!]),
      ]);
      return (this.#stage = {
        args,
        scene,
        volunteer,
        tokens: { submitter: await token('submitter'), viewer: await token('viewer') },
        room: code,
        spoiled: false,
      });
    } catch (e) {
      watcher.close();
      await server.stop();
      throw e;
    }
  }

  async close(): Promise<void> {
    const stage = this.#stage;
    this.#stage = undefined;
    if (!stage) return;
    await stage.volunteer.dispose();
    stage.scene.watcher.close();
    await stage.scene.server.stop();
  }
}
