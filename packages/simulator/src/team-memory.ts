/**
 * The memory that the ranks of a team share on a simulated node: a ring for each ordered pair, the counter of their
 * reports, who has ended. It stands for packages/node/src/ring/team-memory.ts and is gone with the node.
 *
 * A ring takes whole parts of messages, and markers between whole messages. A part that does not fit waits at its
 * writer.
 */
import type { Batch } from '@mayfly/protocols';
import type { TaskId } from '@mayfly/wire';
import type { Rule } from './planted.ts';
import type { Random } from './random.ts';

/** A message between teammates: plain data, because an image may hold it. */
export interface LocalMessage {
  readonly number: number;
  readonly tag: number;
  readonly body: readonly number[];
}

/** What lies in the channels from each teammate. */
export type Channels = [src: TaskId, messages: LocalMessage[]][];

/** What an image of a member of a team with a log holds of its channels. */
export interface TeamPart {
  channels?: Channels;
  /** What is left of regroupings. */
  carried?: readonly Batch<LocalMessage>[];
  /** Of a script: what it received of each teammate before checkpoint.open. */
  prologue?: Channels;
  /** By the rank's own account, for the checkers: messages consumed of each teammate, and sent to each. */
  received?: [src: TaskId, count: number][];
  sent?: [dst: TaskId, count: number][];
}

/** What lies in a ring. A message is cut into parts; `body` of a part begins at `offset` of `size` bytes. */
export type InTeamRing =
  | { readonly marker: number }
  | {
      readonly number: number;
      readonly tag: number;
      readonly size: number;
      readonly offset: number;
      readonly body: readonly number[];
    };

/** Bytes of a part besides its body, and of a marker. */
const HEAD = 16;
const bytesOf = (item: InTeamRing): number => HEAD + ('marker' in item ? 0 : item.body.length);
const isWhole = (item: InTeamRing | undefined): boolean =>
  item !== undefined && !('marker' in item) && item.body.length === item.size;

export class TeamRing {
  private readonly items: InTeamRing[] = [];
  private used = 0;

  constructor(
    private readonly capacity: number,
    private readonly undone: Rule | undefined,
    private readonly random: Random,
  ) {}

  /** False: it is full, and the item is not in it. */
  put(item: InTeamRing): boolean {
    const bytes = bytesOf(item);
    if (this.used > 0 && this.used + bytes > this.capacity) return this.undone === 'ring-overwrites' && isWhole(item);
    this.used += bytes;
    const overtakes = this.undone === 'ring-reorders' && isWhole(item) && isWhole(this.items.at(-1));
    if (overtakes && this.random.chance(0.3)) this.items.splice(-1, 0, item);
    else this.items.push(item);
    return true;
  }

  take(): InTeamRing | undefined {
    const [item] = this.items;
    if (item === undefined || (this.undone === 'ring-repeats' && isWhole(item) && this.random.chance(0.1))) return item;
    this.items.shift();
    this.used -= bytesOf(item);
    return item;
  }

  get empty(): boolean {
    return this.items.length === 0;
  }
}

export class TeamMemory {
  /** T4: the number of the last report of any member. */
  reports = 0;
  /** T6: the wave of which an image is wanted, by member, and the last wave that was dropped. */
  readonly wanted = new Map<TaskId, number>();
  /** Of scripts: the call of checkpoint.here at which the images of that wave are taken, and the calls of each. */
  round = { wave: 0, at: 0 };
  readonly calls = new Map<TaskId, number>();
  /** …and those before the images with which they began. */
  readonly callsBefore = new Map<TaskId, number>();
  /** …and those that wait for an image at their last call, and the last one at which each waited in vain. */
  readonly offers = new Set<TaskId>();
  readonly refused = new Map<TaskId, number>();
  dropped = 0;
  /** The node leaves: the wave that has the last images; 0: it has not begun. */
  last = 0;
  /** The last wave whose images are a set, as far as is known here. */
  complete = 0;
  /** Their programs are over: nobody reads what comes for them. */
  readonly ended = new Set<TaskId>();
  private readonly rings = new Map<string, TeamRing>();

  constructor(
    readonly members: readonly TaskId[],
    private readonly ringBytes: number,
    private readonly undone: Rule | undefined,
    private readonly random: Random,
    /** The doorbell of a member: something has changed for it. */
    readonly wakes: (task: TaskId) => void,
    private readonly counts: (what: string) => void,
  ) {}

  /** False: the ring is full, and the item is not in it. */
  put(src: TaskId, dst: TaskId, item: InTeamRing): boolean {
    if (this.ended.has(dst)) return true;
    const fits = this.ring(src, dst).put(item);
    if (!fits) this.counts('full rings');
    else if ('offset' in item && item.offset === 0) this.counts('messages between teammates');
    if (fits) this.wakes(dst);
    return fits;
  }

  ring(src: TaskId, dst: TaskId): TeamRing {
    const key = `${src}>${dst}`;
    let ring = this.rings.get(key);
    if (!ring) this.rings.set(key, (ring = new TeamRing(this.ringBytes, this.undone, this.random)));
    return ring;
  }
}
