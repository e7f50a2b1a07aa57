/**
 * What a script received of teammates before `checkpoint.open`. No log has it, and an image of a script needs it: a
 * restart runs the program again from its start to `open`, while its teammates may be behind theirs, or gone.
 *
 * Owns: copies of these messages, in the order of each channel.
 *
 *  T6 "Its prologue includes copies of the local messages consumed in it; a restart from an image feeds it these and
 *     suppresses its sends" (endpoint.ts), "also when A has left the team": so it gets them from here, whichever its
 *     teammates are now, and whether it has any.
 */
import type { TaskId } from '@mayfly/wire';
import { ReplayDiverged, type Endpoint } from '../../endpoint.ts';

/** More is not kept: such a rank has no images. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Bytes of a message besides its body. */
const HEAD_BYTES = 64;

export class PrologueCopies<Message> {
  #copies: Map<TaskId, Message[]> | undefined;
  #bytes = 0;
  #open: boolean;

  /** `from`: those of the image with which the incarnation begins; absent: it begins at the start of the program. */
  constructor(
    from?: ReadonlyMap<TaskId, readonly Message[]>,
    private readonly most = MOST_BYTES,
  ) {
    this.#open = from === undefined;
    this.#copies = new Map([...(from ?? [])].map(([src, messages]) => [src, [...messages]]));
  }

  /** What is consumed now belongs to the prologue. */
  get records(): boolean {
    return this.#open && this.#copies !== undefined;
  }

  /** The next message of `src` is consumed. `copy` of it is kept, of so many bytes. */
  consumed(src: TaskId, bytes: number, copy: () => Message): void {
    if (!this.records) return;
    this.#bytes += HEAD_BYTES + bytes;
    if (this.#bytes > this.most) {
      this.#copies = undefined;
      return;
    }
    const of = this.#copies!.get(src);
    if (of) of.push(copy());
    else this.#copies!.set(src, [copy()]);
  }

  /** Of a message that was consumed, more has come since: its copy is replaced. */
  completes(is: (copy: Message) => boolean, by: (copy: Message) => Message): void {
    if (!this.records) return;
    for (const of of this.#copies!.values()) {
      const i = of.findLastIndex(is);
      if (i >= 0) of[i] = by(of[i]!);
    }
  }

  /** The program has reached `checkpoint.open`. */
  opened(): void {
    this.#open = false;
  }

  /** Undefined: there was too much of it, and the rank has no images. */
  get all(): ReadonlyMap<TaskId, readonly Message[]> | undefined {
    return this.#copies;
  }
}

/** In an incarnation that begins with an image: the copies, for its prologue. */
export class RepeatedPrologue<Message> {
  readonly #left: Map<TaskId, Message[]>;

  constructor(
    copies: ReadonlyMap<TaskId, readonly Message[]>,
    private readonly endpoint: Pick<Endpoint, 'prologueEvents'>,
    private readonly number: (message: Message) => number,
  ) {
    this.#left = new Map([...copies].map(([src, messages]) => [src, [...messages]]));
  }

  /** Consumes the next message, if it is one of a teammate of then. @throws ReplayDiverged */
  take(): { readonly src: TaskId; readonly message: Message } | undefined {
    const events = this.endpoint.prologueEvents;
    const choice = events?.choice();
    if (!events || choice?.from !== 'ring') return undefined;
    const { src } = choice;
    const message = this.#left.get(src)?.shift();
    if (message === undefined) throw new ReplayDiverged(`the image has no copy of the next message of task ${src}`);
    events.consumeLocal(src, this.number(message));
    return { src, message };
  }
}
