/**
 * What a simulated rank owes the log of its team: reports before everything that others may see, and its part in the
 * images of the team (T4, T6, T12). Stands for packages/node/src/rank/team-log.ts.
 *
 * Owns: the wave of its image whose channel state is not whole.
 */
import type { LocalEvents } from '@mayfly/protocols';
import type { Position, TaskId } from '@mayfly/wire';
import type { Rule } from './planted.ts';
import type { SimImage, UpRing } from './rank-host.ts';
import type { Channels } from './team-memory.ts';
import type { Teammates } from './teammates.ts';

export class LoggedTeam {
  private open = 0;

  constructor(
    private readonly task: TaskId,
    private readonly mates: Teammates,
    private readonly events: LocalEvents,
    private readonly ring: UpRing,
    private readonly declines: () => boolean,
    private readonly undone: Rule | undefined,
  ) {}

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
