/**
 * A node that takes ranks and runs none of them: a real control socket, valid messages, nothing behind them. For the
 * campaign against strangers (campaign/saboteurs.ts), and for a small share of it in the tests of the server.
 */
import { CONTROL_VERSION, type Assignment, type Heartbeat, type TaskId } from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';

/** What it does with a rank. */
export const SABOTAGE = {
  'false crash': 'reports a crash at once, or after it has begun',
  silence: 'only sends heartbeats, with calls that nobody made',
  'endless start': 'never begins',
  refusal: 'reports that a Channel Memory has refused it',
  'false loss': 'reports that the logs lost what the rank needs',
  vanish: 'closes its socket, and comes back as somebody else',
} as const;
export type Sabotage = keyof typeof SABOTAGE;
export const SABOTAGES = Object.keys(SABOTAGE) as Sabotage[];

const BEAT_MS = 1000;

export class Saboteur {
  readonly #url: string;
  readonly #name: string;
  readonly #slots: number;
  readonly #given = new Map<TaskId, { a: Assignment; calls: number; begun: boolean }>();
  readonly #beat: NodeJS.Timeout;
  #control: Socket;
  /** Ranks that it was given. */
  taken = 0;

  constructor(
    url: string,
    name: string,
    readonly kind: Sabotage,
    slots = 2,
  ) {
    this.#url = url;
    this.#name = name;
    this.#slots = slots;
    this.#control = this.#connect();
    this.#beat = setInterval(() => this.#heartbeat(), BEAT_MS);
  }

  get connected(): boolean {
    return this.#control.connected;
  }

  /** Each time as somebody whom the server does not know. */
  #connect(): Socket {
    const control = io(`${this.#url}/node`, { transports: ['websocket'], forceNew: true });
    const session = `${this.#name}-${Math.random()}`;
    control.on('connect', () =>
      control.emit(
        'hello',
        {
          version: CONTROL_VERSION,
          name: this.#name,
          engine: 'sabotage',
          slots: this.#slots,
          session,
          holds: [],
          images: [],
        },
        () => undefined,
      ),
    );
    control.on('assign', (a: Assignment) => this.#assigned(a));
    control.on('revoke', (r: { task: TaskId; incarnation: number }) => {
      if (this.#given.get(r.task)?.a.incarnation === r.incarnation) this.#given.delete(r.task);
    });
    return control;
  }

  #assigned(a: Assignment): void {
    this.taken++;
    const { job, task, incarnation } = a;
    const report = (event: string, error?: { code: string; message: string }): void =>
      void this.#control.emit('report', { job, task, incarnation, event, ...(error ? { error } : {}) });
    const begun = this.kind === 'silence' || (this.kind === 'false crash' && this.taken % 2 === 0);
    this.#given.set(task, { a, calls: 0, begun });
    if (begun) report('started');
    if (this.kind === 'silence') report('recovered');
    if (this.kind === 'false crash' || this.kind === 'refusal' || this.kind === 'false loss') {
      this.#given.delete(task);
      if (this.kind === 'refusal') report('refused', { code: 'BAD_FRAME', message: 'the frame is too long' });
      else if (this.kind === 'false loss') report('refused', { code: 'LOST_LOG', message: 'the logs lost everything' });
      else report('crashed', { code: 'INTERNAL', message: 'out of memory' });
    } else if (this.kind === 'vanish') {
      this.#given.clear();
      this.#control.disconnect();
      this.#control = this.#connect();
    }
  }

  #heartbeat(): void {
    const tasks: Heartbeat['tasks'] = [...this.#given.values()].map((g) => ({
      job: g.a.job,
      task: g.a.task,
      incarnation: g.a.incarnation,
      started: g.begun,
      activity: { state: 'computing', call: 'MPI_Send', arrivals: g.calls, sends: ++g.calls },
    }));
    if (this.#control.connected) this.#control.emit('heartbeat', { tasks });
  }

  close(): void {
    clearInterval(this.#beat);
    this.#control.disconnect();
  }
}
