/**
 * Where the messages of a rank come from: the server (its down ring) and its teammates, and which of them is next.
 * Where the team has a log, the endpoint decides (T3); without one, they come in turn. Synchronous, never blocks.
 */
import type { Arrival } from '@mayfly/mpi';
import type { Choice } from '@mayfly/protocols';
import type { Carried } from './carried.ts';
import type { DownFrames, Incoming } from './down-frames.ts';
import type { Prologue } from './prologue.ts';
import type { TeamLog } from './team-log.ts';
import type { Teammates } from './teammates.ts';

const ANY: Choice = { from: 'any' };

export class Sources {
  /** The next message is looked for among those of teammates first: in turn. */
  private localFirst = false;
  /** What may come now. It changes only with what is consumed. */
  private choice: Choice = ANY;
  /** T9: comes before everything else, once it is due. */
  carried: Carried | undefined;
  /** T6: of a script that begins with an image. */
  prologue: Prologue | undefined;

  constructor(
    private readonly frames: DownFrames,
    /** Consumes a message that the server delivered. */
    private readonly remote: (next: Incoming) => Arrival,
    private readonly team: Teammates | undefined,
    private readonly log: TeamLog | undefined,
    /** Arrivals consumed. */
    private readonly arrivals: () => number,
  ) {}

  /** Consumes the next message that may be consumed; undefined: it is not here. @throws ReplayDiverged */
  next(): Arrival | undefined {
    const { team } = this;
    const first = this.prologue?.take() ?? this.takeCarried();
    if (first || !team) return first ?? this.delivered();
    this.look();
    const { choice } = this;
    if (choice.from === 'log') return this.delivered();
    if (choice.from === 'ring') return this.local(team, choice.src);
    this.localFirst = !this.localFirst;
    return this.localFirst ? (this.local(team) ?? this.delivered()) : (this.delivered() ?? this.local(team));
  }

  /** Consumes the next message that was carried over, if it is due. */
  takeCarried(): Arrival | undefined {
    if (this.carried?.due(this.arrivals()) !== true) return undefined;
    const m = this.carried.take();
    if (m) this.log?.events.consumeCarried(m.src, m.channel);
    return m;
  }

  /** What may come now? */
  look(): void {
    if (!this.log) return;
    this.choice = this.log.events.choice();
  }

  private delivered(): Arrival | undefined {
    const next = this.frames.next();
    return next && this.remote(next);
  }

  private local(team: Teammates, src?: number): Arrival | undefined {
    if (!this.log) return team.take();
    return this.log.take(src as Arrival['src'] | undefined);
  }

  /** Nothing is here that may be consumed. What has come besides is moved out of the rings (teammates.ts, N2). */
  readonly nothing = (): boolean => {
    const { team, log, choice } = this;
    if (this.carried?.due(this.arrivals())) return false;
    if (!team) return this.frames.empty;
    if (!log) return this.frames.empty && team.empty();
    if (choice.from !== 'any' || log.met) team.drain();
    if (choice.from === 'log') return this.frames.empty;
    if (choice.from === 'ring') return team.empty(choice.src, log.accepts);
    return this.frames.empty && team.empty(undefined, log.accepts);
  };
}
