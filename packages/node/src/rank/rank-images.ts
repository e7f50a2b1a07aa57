/** When a rank takes an image, and what the host adds to it: the same for a script and for a module. */
import type { Endpoint, EndpointSnapshot } from '@mayfly/protocols';
import { accepts } from '@mayfly/protocols/manifests';
import { CHANNELS } from '../local-frames.ts';
import type { RankRun } from '../messages.ts';
import type { StatusWriter } from '../status.ts';
import type { RankDevice } from './host-device.ts';
import type { Random, RandomState } from './random.ts';

/** What an image keeps of the host, besides what API and manifest keep. */
interface HostSection {
  random: RandomState;
  endpoint: EndpointSnapshot;
  origin?: number;
  /** Of a script: its calls of checkpoint.here; absent in older ones. */
  calls?: number;
}
const SECTION = 'host';

export class RankImages {
  /** The protocol restarts ranks from images; under the others no image begins. */
  readonly taken: boolean;
  private last: number;
  private lastSteps = 0;
  private serial: number;
  /** Of checkpoint.here, since the start of the program. */
  private calls = 0;
  /** Operations of the device when it began with an image, until the first call. */
  private restored: number | undefined;
  /** A script wanted one at a checkpoint.here where none could be had. */
  private wished = false;
  /** Of the image of its team that a script takes now. */
  private wave = 0;
  /** From when performance.now counts, ms of the job's clock; undefined until the program asks for it. */
  origin: number | undefined;
  /** The program's own, ms. */
  interval: number | undefined;

  constructor(
    private readonly run: RankRun,
    private readonly device: RankDevice,
    private readonly endpoint: Endpoint,
    private readonly random: Random,
    private readonly status: StatusWriter,
    /** The engine's clock: whether an image is taken, and when, leaves no trace in the program's history. */
    private readonly now: () => number,
  ) {
    this.taken = accepts(run.assignment.protocol, 'checkpoints');
    this.last = now();
    this.serial = run.assignment.manifest?.serial ?? 0;
  }

  /**
   * An image is wanted. `waiting`: the program does nothing, so without a new operation of the device there is nothing
   * new that could be lost.
   */
  due(waiting: boolean): boolean {
    if (!this.taken || this.endpoint.replaying) return false;
    if (this.device.log) return this.device.checkpointDue(false);
    const interval = this.interval ?? Math.max(this.run.assignment.checkpointMs, this.device.imageSpacing);
    return this.device.checkpointDue(
      this.endpoint.choosesImages &&
        (!waiting || this.device.steps !== this.lastSteps) &&
        this.now() - this.last >= interval,
    );
  }

  /** A script is at checkpoint.here. `force`: it wants an image, here or as soon as one can be had. */
  dueHere(force: boolean): boolean {
    const { device, endpoint, interval } = this;
    this.counts();
    if (!this.taken) return false;
    const may = !endpoint.replaying;
    if (!device.log) {
      const stops = device.stopsAt(this.calls);
      this.wished ||= force;
      if (
        !may ||
        !(this.wished ? device.checkpointDue(true) : stops === 'here' || (stops !== 'later' && this.due(false)))
      )
        return false;
      this.wished = false;
      return true;
    }
    this.wave = device.here(may, force);
    if (this.wave > 0) return true;
    if (may && (force || (interval !== undefined && this.now() - this.last >= interval))) device.log.wish();
    return false;
  }

  /**
   * A call of checkpoint.here. A program whose steps begin with one repeats that of the image with which it began: it
   * has done nothing since.
   */
  private counts(): void {
    if (this.device.steps === this.restored) this.device.log?.began(this.calls - 1);
    else this.calls++;
    this.restored = undefined;
    this.status.checkpointCalls(this.calls);
  }

  /** Puts chance and positions where the image was taken; gives its sections. */
  restore(): Map<string, Uint8Array> | undefined {
    const { image } = this.run;
    if (!image) return undefined;
    this.run.image = undefined;
    const host = JSON.parse(new TextDecoder().decode(image.get(SECTION))) as HostSection;
    this.endpoint.jump(host.endpoint, typeof this.run.program === 'string');
    this.random.restore(host.random);
    this.origin = host.origin;
    this.calls = host.calls ?? 0;
    this.device.log?.began(this.calls);
    this.status.resume(
      this.endpoint.consumed,
      this.endpoint.sent().reduce((n, [, count]) => n + count, 0),
    );
    this.last = this.now();
    this.device.jumped(image.get(CHANNELS));
    this.restored = this.device.steps;
    return image;
  }

  save(image: {
    readonly sections: readonly {
      readonly name: string;
      readonly parts: readonly Uint8Array[];
      readonly dead?: readonly (readonly [number, number])[];
    }[];
    readonly held: readonly number[];
  }): void {
    const { device } = this;
    device.flush();
    const { origin, calls } = this;
    const host: HostSection = {
      random: this.random.state(),
      endpoint: this.endpoint.snapshot(),
      ...(origin === undefined ? {} : { origin }),
      ...(calls === 0 ? {} : { calls }),
    };
    const wave = device.log?.script ? this.wave : device.log?.wanted;
    // Bodies of messages that no log has (their numbers are negative) are channel state.
    const held = image.held.filter((number) => number > 0);
    const { carried, prologue } = device;
    const leaving = device.image(
      { serial: ++this.serial, position: this.endpoint.position(held), ...(wave === undefined ? {} : { wave }) },
      [
        ...image.sections,
        ...(prologue ? [prologue] : []),
        ...(carried ? [carried] : []),
        { name: SECTION, parts: [new TextEncoder().encode(JSON.stringify(host))] },
      ],
      this.run.imageBuffer,
      this.calls,
    );
    this.last = this.now();
    this.lastSteps = this.device.steps;
    if (leaving) device.park(wave);
  }
}
