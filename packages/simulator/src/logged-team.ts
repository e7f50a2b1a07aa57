/**
 * What a simulated rank owes the log of its team: reports before everything that others may see, and its part in the
 * images of the team (T4, T6, T12). Stands for packages/node/src/rank/team-log.ts.
 *
 * Owns: the wave of its image whose channel state is not whole.
 */
import { atHere, PrologueCopies, type Endpoint, type LocalEvents } from '@mayfly/protocols';
import type { Position, TaskId } from '@mayfly/wire';
import type { Rule } from './planted.ts';
import type { RankHost, SimImage, UpRing } from './rank-host.ts';
import type { Channels, LocalMessage, TeamPart } from './team-memory.ts';
import type { Teammates } from './teammates.ts';

export class LoggedTeam {
  private open = 0;
  /** The call of checkpoint.here at which it waits for an answer, and the last wave then (L8). */
  private waits: { readonly call: number; readonly wave: number } | undefined;
  /** The wave before the one that it wishes for. */
  private wished: number | undefined;
  /** Of a script: what it received of teammates before checkpoint.open. */
  readonly copies: PrologueCopies<LocalMessage>;

  constructor(
    private readonly task: TaskId,
    private readonly mates: Teammates,
    private readonly events: LocalEvents,
    private readonly ring: UpRing,
    private readonly declines: () => boolean,
    private readonly undone: Rule | undefined,
    /** Its program has images only where it calls checkpoint.here. */
    private readonly script: boolean,
    image: TeamPart | undefined,
  ) {
    this.copies = new PrologueCopies(image && new Map(image.prologue));
  }

  // ---- T4 ----

  readonly report = (): void => {
    const r = this.events.report(() => ++this.mates.memory.reports);
    if (r) this.ring.report(r);
  };

  frame(bytes: Uint8Array): void {
    this.mates.does(this.report);
    this.mates.does(() => this.ring.up({ type: 'frame', bytes }));
  }

  sends(dst: TaskId, number: number, tag: number, body: Uint8Array): void {
    this.mates.does(this.report);
    this.mates.sends(dst, number, tag, body);
  }

  // ---- T6 ----

  /** The wave of which an image is wanted; 0: none. */
  get wanted(): number {
    const { cut, memory } = this.mates;
    const wave = Math.max(memory.wanted.get(this.task) ?? 0, cut.met);
    return wave > cut.wave ? wave : 0;
  }

  /** Its node leaves: after the last image it does nothing more, unless that is dropped. */
  get parked(): boolean {
    const { cut, memory } = this.mates;
    return memory.last > 0 && cut.wave >= memory.last && memory.dropped < memory.last;
  }

  /**
   * A script is at checkpoint.here. `may`: an image can be taken; `force`: it wants one. @returns the wave of which it
   * takes an image there; 0: none; undefined: it waits for an answer, and asks again
   */
  here(may: boolean, force: boolean): number | undefined {
    const { memory } = this.mates;
    const last = memory.wanted.get(this.task) ?? 0;
    if (!this.waits) {
      const waits = force && may && Math.max(memory.dropped, memory.complete) >= last;
      if (waits) memory.offers.add(this.task);
      const call = (memory.calls.get(this.task) ?? 0) + 1;
      memory.calls.set(this.task, call);
      if (!waits) return this.at(call, may, force);
      this.waits = { call, wave: last };
      this.ring.up({ type: 'wish', call });
      return undefined;
    }
    const { call, wave } = this.waits;
    if (last <= wave && memory.refused.get(this.task) !== call) return undefined;
    this.waits = undefined;
    memory.offers.delete(this.task);
    return this.at(call, may, force);
  }

  private at(call: number, may: boolean, force: boolean): number {
    const { cut, memory } = this.mates;
    const wave = memory.wanted.get(this.task) ?? 0;
    if (wave > cut.wave && memory.round.wave === wave) {
      const what = atHere(call, memory.round.at);
      if (what === 'image' && may) return wave;
      if (what !== 'later') this.decline(wave);
    }
    if (may && force) this.wish(wave);
    return 0;
  }

  private wish(wave: number): void {
    if (this.wished === wave) return;
    this.wished = wave;
    this.ring.up({ type: 'wish', call: undefined });
  }

  /** A script waits. True: a marker stands before what has come. After a while it goes past it. */
  passes(): boolean {
    const { met } = this.mates.cut;
    if (!this.script || met === 0 || this.waits) return false;
    if (this.mates.tires()) this.decline(met);
    return true;
  }

  /** What an image of a script holds besides. */
  get prologue(): TeamPart {
    if (!this.script) return {};
    return { prologue: [...this.copies.all!].map(([src, messages]) => [src, [...messages]]) };
  }

  /** The rank takes its image, where it can. */
  image(wave: number, take: () => { readonly image: SimImage; readonly position: Position }): void {
    if (this.declines()) return this.decline(wave);
    this.report();
    const { image, position } = take();
    this.ring.up({ type: 'image', wave, image: { ...image, wave }, position });
    this.open = wave;
    for (const dst of this.mates.cutAt(wave)) if (this.undone !== 'marker-not-written') this.mates.marks(dst, wave);
    if (this.undone === 'marker-not-written') for (const src of this.mates.memory.members) this.mates.cut.noRing(src);
  }

  private decline(wave: number): void {
    this.open = 0;
    this.mates.cut.decline(wave);
    this.ring.up({ type: 'declined', wave });
  }

  /** Hands the channel state over, when it is whole. */
  settle(): void {
    if (this.open === 0) return;
    const { mates, open: wave } = this;
    if (mates.memory.dropped >= wave) {
      this.open = 0;
      return mates.cut.decline(wave);
    }
    mates.closesEnded();
    if (!mates.cut.closed) return;
    this.open = 0;
    const channels: Channels = [...mates.cut.state].map(([src, messages]) => [src, [...messages]]);
    this.ring.up({ type: 'closed', wave, channels });
  }

  // ---- T12 ----

  /** Its EXIT was logged by an incarnation before. */
  exitWasSent(): void {
    this.mates.does(() => this.ring.up({ type: 'ended' }));
  }

  /** Its program is over: it takes no images, and hands the state of its last one over. */
  ended(): void {
    const wave = this.wanted;
    if (wave > 0) this.decline(wave);
    this.mates.moves(true);
    this.settle();
  }
}

/** Undefined: the rank has no team, or one without a log. */
export function loggedTeamOf(
  { task, local }: Endpoint,
  { team, undone }: RankHost,
  script: boolean,
  image: TeamPart | undefined,
): LoggedTeam | undefined {
  if (!local || !team?.log) return undefined;
  const { mates, log, random } = team;
  return new LoggedTeam(task, mates, local, log, () => random.chance(0.06), undone, script, image);
}
