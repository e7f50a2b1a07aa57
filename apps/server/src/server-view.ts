/**
 * How the server is, for its page (GET /api/server) and for /metrics: storage by kind, delay of the event loop,
 * counters.
 *
 * Owns: the sampling of the event loop.
 */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import type { PeerView, ServerView } from '@mayfly/wire';
import { clock } from './clock.ts';
import type { Disk } from './disk.ts';
import type { Metrics, MetricSources } from './metrics.ts';
import type { MeasuredStorage } from './storage-sizes.ts';

const WINDOW_MS = 10_000;
/** The sampling timer's own interval, which its samples contain. */
const RESOLUTION_MS = 20;

/** Delay of the event loop over the last whole window. */
class LoopDelay {
  readonly #samples: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  #last: ServerView['eventLoopMs'] | undefined;

  constructor() {
    this.#samples.enable();
    this.#timer = setInterval(() => {
      this.#last = this.#now();
      this.#samples.reset();
    }, WINDOW_MS);
    this.#timer.unref();
  }

  read(): ServerView['eventLoopMs'] {
    return this.#last ?? this.#now();
  }

  #now(): ServerView['eventLoopMs'] {
    const beyond = (ns: number): number =>
      Number.isFinite(ns) ? Math.max(0, Math.round((ns / 1e6 - RESOLUTION_MS) * 100) / 100) : 0;
    if (this.#samples.count === 0) return { mean: 0, p99: 0, max: 0 };
    return {
      mean: beyond(this.#samples.mean),
      p99: beyond(this.#samples.percentile(99)),
      max: beyond(this.#samples.max),
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#samples.disable();
  }
}

export interface ServerViewSources extends MetricSources {
  metrics: Metrics;
  disk: Disk;
  dashboards(): number;
  sizes: MeasuredStorage;
  /** The server processes of a shared storage. */
  peers?(): Promise<PeerView[]>;
  version: string;
  limitBytes: number;
}

export class ServerHealth {
  readonly #s: ServerViewSources;
  readonly #delay = new LoopDelay();
  readonly #startedAt = clock();
  #rss = 0;

  constructor(sources: ServerViewSources) {
    this.#s = sources;
  }

  async view(): Promise<ServerView> {
    const { metrics, ...s } = this.#s;
    const { user, system } = process.cpuUsage();
    const nodes = s.nodes();
    return {
      version: s.version,
      node: process.version,
      startedAt: this.#startedAt,
      now: clock(),
      nodes: nodes.here,
      slots: nodes.slots,
      busy: nodes.busy,
      jobs: s.jobs(),
      dashboards: s.dashboards(),
      dataLinks: s.links(),
      imageLinks: s.imageLinks(),
      appends: metrics.appends,
      appendedBytes: metrics.appendBytes,
      receivedBytes: metrics.dataBytesIn,
      sentBytes: metrics.dataBytesOut,
      logBytes: s.logBytes(),
      storage: await this.storage(),
      disk: this.#s.disk.view(),
      eventLoopMs: this.#delay.read(),
      memoryBytes: this.#memory(),
      ...(s.peers ? { servers: await this.peers().catch(() => []) } : {}),
      cpu: Math.round(((user + system) / 1e6 / Math.max(1, process.uptime())) * 1000) / 1000,
    };
  }

  /** The server processes of a shared storage, this one first; none: it is not shared. @throws MayflyError */
  async peers(): Promise<PeerView[]> {
    return (await this.#s.peers?.()) ?? [];
  }

  /** Linux has it in a file, which cannot be opened when too many files are open. */
  #memory(): number {
    try {
      this.#rss = process.memoryUsage.rss();
    } catch {
      // As it was last.
    }
    return this.#rss;
  }

  async storage(): Promise<ServerView['storage']> {
    const { total: _, ...sizes } = (await this.#s.sizes.look()) ?? {};
    const { freeBytes } = this.#s.disk.view();
    return { ...sizes, ...(freeBytes === undefined ? {} : { freeBytes }), limitBytes: this.#s.limitBytes };
  }

  close(): void {
    this.#delay.close();
  }
}
