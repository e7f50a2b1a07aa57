/** One simulated run: the setup that a seed draws, the clock, the server, the volunteers, the notes. */
import type { DispatcherSettings, EndpointOptions } from '@mayfly/protocols';
import { zeroLine, type ErrorBody, type JobId, type ReplayFrom } from '@mayfly/wire';
import { Agenda } from './agenda.ts';
import { Checkers } from './checkers.ts';
import { Link } from './link.ts';
import type { ProgramSpec } from './program.ts';
import { mixBytes } from './program.ts';
import type { Random } from './random.ts';
import { Server } from './server.ts';
import { Volunteer } from './volunteer.ts';

export interface Setup {
  readonly job: JobId;
  readonly program: string;
  readonly spec: ProgramSpec;
  readonly channelMemories: number;
  readonly protocol: 'pessimistic' | 'none';
  readonly durability: 'behind' | 'strict';
  readonly chunkBytes: number;
  readonly window: number;
  readonly checkpointMs: number;
  readonly graceMs: number;
  readonly maxDelay: number;
  readonly turnMs: number;
  readonly syncMs: number;
  readonly nodes: number;
  readonly slots: number;
  readonly dispatcher: Partial<DispatcherSettings>;
  readonly endpoint: EndpointOptions;
}

export class World {
  readonly epoch = 1_700_000_000_000;
  readonly agenda = new Agenda();
  readonly checkers: Checkers;
  readonly server: Server;
  volunteers: Volunteer[] = [];
  /** What happened, in order; printed for a failing seed. */
  readonly notes: string[] = [];
  readonly counts = new Map<string, number>();
  end: { state: string; error: ErrorBody | undefined } | undefined;
  private born = 0;

  constructor(
    readonly setup: Setup,
    readonly random: Random,
  ) {
    this.checkers = new Checkers(setup.spec);
    this.server = new Server(this);
  }

  link<U, D>(ends: ConstructorParameters<typeof Link<U, D>>[3]): Link<U, D> {
    return new Link<U, D>(this.agenda, this.random, this.setup.maxDelay, ends);
  }

  volunteer(claim?: Volunteer['id']): Volunteer {
    const v = new Volunteer(this, `v${++this.born}`, this.setup.slots, claim);
    this.volunteers.push(v);
    return v;
  }

  gone(v: Volunteer): void {
    this.volunteers = this.volunteers.filter((o) => o !== v);
  }

  ended(state: string, error: ErrorBody | undefined): void {
    this.end ??= { state, error };
  }

  note(text: string): void {
    this.notes.push(`${this.agenda.now.toFixed(1).padStart(9)} ${text}`);
  }

  count(what: string, n = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + n);
  }

  zeroReplay(): ReplayFrom {
    return { prologue: zeroLine(), image: zeroLine(), held: [] };
  }

  /** A stand-in for a page's hash: same text, same hash. */
  pageHash(text: string): string {
    const bytes = Array.from(text, (c) => c.charCodeAt(0));
    return Array.from({ length: 8 }, (_, i) => mixBytes(i, bytes).toString(16).padStart(8, '0')).join('');
  }
}
