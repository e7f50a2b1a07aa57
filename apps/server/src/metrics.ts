/** Numbers for /metrics (Prometheus text). Hot paths add to plain fields; they are read when somebody scrapes. */
import type { ServerView } from '@mayfly/wire';
import { Counter, Gauge, Histogram, Registry as PromRegistry, collectDefaultMetrics } from 'prom-client';

export interface MetricSources {
  nodes(): { here: number; slots: number; busy: number };
  jobs(): Record<string, number>;
  links(): number;
  imageLinks(): number;
  logBytes(): number;
}

export class Metrics {
  readonly registry = new PromRegistry();
  dataBytesIn = 0;
  dataMessagesIn = 0;
  dataBytesOut = 0;
  appends = 0;
  appendBytes = 0;
  readonly syncSeconds: Histogram;
  readonly recoverySeconds: Histogram;
  readonly #refused: Counter<'code'>;
  readonly #incarnations: Counter<'why'>;
  readonly #requests: Counter<'method' | 'route' | 'status'>;
  readonly #requestSeconds: Histogram;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.syncSeconds = new Histogram({
      name: 'mayfly_log_sync_seconds',
      help: 'Time of one group sync of the logs of one Channel Memory',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2],
      registers,
    });
    this.recoverySeconds = new Histogram({
      name: 'mayfly_recovery_seconds',
      help: 'From the detection of a fault to the first new step of the next incarnation',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 120],
      registers,
    });
    this.#refused = new Counter({
      name: 'mayfly_data_links_refused_total',
      help: 'Data links closed with an error, by code',
      labelNames: ['code'],
      registers,
    });
    this.#incarnations = new Counter({
      name: 'mayfly_incarnations_total',
      help: 'Incarnations assigned',
      labelNames: ['why'],
      registers,
    });
    this.#requests = new Counter({
      name: 'mayfly_http_requests_total',
      help: 'Requests answered, by method, route and status',
      labelNames: ['method', 'route', 'status'],
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: 'mayfly_http_request_duration_seconds',
      help: 'Time to the end of an answer, all routes',
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    });
    const total = (name: string, help: string, read: () => number): void => {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    };
    total('mayfly_data_received_bytes_total', 'Bytes received on data links', () => this.dataBytesIn);
    total('mayfly_data_received_messages_total', 'Socket messages received on data links', () => this.dataMessagesIn);
    total('mayfly_data_sent_bytes_total', 'Bytes sent on data links', () => this.dataBytesOut);
    total('mayfly_log_appends_total', 'Records appended to the logs', () => this.appends);
    total('mayfly_log_appended_bytes_total', 'Bytes appended to the logs', () => this.appendBytes);
  }

  refused(code: string): void {
    this.#refused.inc({ code });
  }
  assigned(why: 'first' | 'restart'): void {
    this.#incarnations.inc({ why });
  }

  answered(method: string, route: string, status: number, ms: number): void {
    this.#requests.inc({ method, route, status: String(status) });
    this.#requestSeconds.observe(ms / 1000);
  }

  /** Gauges that ask the running server. */
  observe(
    s: MetricSources & {
      dashboards(): number;
      compiles(): { running: number; waiting: number };
      storage(): Promise<ServerView['storage']>;
      disk(): ServerView['disk'];
      version: string;
    },
  ): void {
    const registers = [this.registry];
    const gauge = (name: string, help: string, read: () => number): void => {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    };
    gauge('mayfly_nodes', 'Nodes that are here', () => s.nodes().here);
    gauge('mayfly_slots', 'Slots of the nodes that are here', () => s.nodes().slots);
    gauge('mayfly_slots_busy', 'Slots that run a rank', () => s.nodes().busy);
    gauge('mayfly_data_links', 'Open data links', () => s.links());
    gauge('mayfly_image_links', 'Open image links', () => s.imageLinks());
    gauge('mayfly_log_bytes', 'Bytes of the message logs of running jobs', () => s.logBytes());
    gauge('mayfly_dashboards', 'Connected dashboards and commands that follow a job', () => s.dashboards());
    gauge('mayfly_compiles_running', 'Programs that are being compiled', () => s.compiles().running);
    gauge('mayfly_compiles_waiting', 'Programs that wait to be compiled', () => s.compiles().waiting);
    gauge('mayfly_storage_stopped', '1 while nothing can be stored, so that jobs are paused', () =>
      s.disk().state === 'stopped' ? 1 : 0,
    );
    new Gauge({
      name: 'mayfly_build_info',
      help: 'Always 1; the version is the label',
      labelNames: ['version'],
      registers,
    }).set({ version: s.version }, 1);
    new Gauge({
      name: 'mayfly_storage_bytes',
      help: 'Bytes in the data directory by kind, as last measured',
      labelNames: ['kind'],
      registers,
      async collect() {
        const { log, images, jobs, registry } = await s.storage();
        for (const [kind, bytes] of Object.entries({ log, images, jobs, registry }))
          if (bytes !== undefined) this.set({ kind }, bytes);
      },
    });
    new Gauge({
      name: 'mayfly_disk_free_bytes',
      help: 'Bytes that are free on the disk of the data directory',
      registers,
      collect() {
        this.set(s.disk().freeBytes ?? Number.NaN);
      },
    });
    new Gauge({
      name: 'mayfly_jobs',
      help: 'Jobs by state',
      labelNames: ['state'],
      registers,
      collect() {
        this.reset();
        for (const [state, n] of Object.entries(s.jobs())) this.set({ state }, n);
      },
    });
  }
}
