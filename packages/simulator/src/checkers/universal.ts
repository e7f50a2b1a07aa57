/**
 * Checkers of a simulated run, independent of the cores: they look at what programs do, what hosts write to disks, what
 * leaves for a receiver, and what the world sees. Each throws {@link Violation} where it finds one.
 *
 * This file has the rules that hold under every V-protocol. Rules that are theorems of one protocol belong to its kit
 * ({@link ProtocolCheckers}); index.ts lists the kits.
 *
 *  K3  The world sees each message of a task's channel once, in order, without gaps, and what the task wrote.
 *  K4  Incarnations of a task are assigned in rising order.
 *  K5  At the end every message between tasks was consumed exactly once, with the very content that its sender's last
 *      history gave it.
 *  K6  The run is one legal execution with the outputs that the world saw; an ordered program's outputs are the
 *      fault-free ones (legal-execution.ts).
 *  K7  One acting incarnation: once one has begun, nothing of a lower one is logged, and no image of a lower one
 *      becomes complete.
 *  K12 Memory stays within its bounds: retention, pending determinants, what is under way to a receiver, what a Channel
 *      Memory holds.
 *  K13 Every run ends (run.ts).
 *  K14 An image is complete only when its pages are durable. What else must be durable before is a matter of its kit.
 *  K15 A rank is given up as crashed only when it is, or when it has not begun in its time (world.ts).
 *  K16 Requests to the file service take effect once each, one after the other; answers and files are what that order
 *      gives (file-checker.ts).
 *  K18 A node that fails and has no record waits longer each time (world.ts).
 *  K19 No honest node is in quarantine for what the program did (run.ts).
 *  K20 A rank comes only to nodes that run programs of its kind (volunteer.ts).
 *  K25 A team under a message log is one unit, and begins with a consistent set of images (team-units.ts).
 *  K26 No member of a team comes after its team has begun (volunteer.ts).
 *  K28 No incarnation is refused for a position that it has not stated, or that is true (cm-host.ts).
 *  K24 What a task consumes of a teammate comes once, in order, as the teammate has sent it (local-channels.ts).
 *
 * Owns: the histories of all tasks as the lives that count have them, incarnations and lives, what the world saw.
 */
import type { JobRecord } from '@mayfly/protocols';
import {
  FILES,
  Kind,
  WORLD,
  WorldMode,
  type ErrorBody,
  type Frame,
  type FtModes,
  type Header,
  type Position,
} from '@mayfly/wire';
import { FileChecker } from '../file-checker.ts';
import { execute, outputDigest, type Outcome } from '../legal-execution.ts';
import { due, outputsDue, type ProgramSpec } from '../program.ts';
import type { Standing, Witness } from '../rank-host.ts';
import type { RecoveryWitness } from '../recovering-rank.ts';
import { Violation } from '../violation.ts';
import { LocalChannels } from './local-channels.ts';
import { messageKey, type Place } from './records.ts';
import { TeamUnits, type Assigned, type TeamImage } from './team-units.ts';
import type { WaveWitness } from './wave-witness.ts';

/** What a task sent: a digest of the content, and how far the task was. */
export interface Sent {
  readonly digest: number;
  readonly at: Standing;
}

/** What a kit may know of the tasks: their histories, as far as they count. */
export interface Histories {
  sentBy(src: number, dst: number, channel: number): Sent | undefined;
  /** Which message arrival `arrival` of a task was. */
  arrival(task: number, arrival: number): { readonly src: number; readonly channel: number } | undefined;
  /** The tasks that are lost with this one, itself included. */
  teamOf(task: number): readonly number[];
  /** This life is the latest of the task's newest incarnation. */
  mayAct(task: number, life: number): boolean;
}

/** What a kit may know of the server's stores. */
export interface Stores {
  /** Simulated time, ms. */
  now(): number;
  /** One per Channel Memory. */
  readonly disks: readonly { syncedTo(stream: string): number }[];
  /** The protocol holds an arrival back until it is durable. */
  readonly strict: boolean;
  /** Complete images of a task that a restart may choose, oldest first. */
  kept(task: number): readonly { readonly image: string; readonly position: Position }[];
  isDone(task: number): boolean;
  /** Highest durable incarnation of a task. */
  raised(task: number): number | undefined;
}

/** What a kit of programs that recover themselves hears of hosts, beside what their ranks report. */
export interface RecoveriesWitness extends RecoveryWitness {
  /** How often a task has heard of a recovery. */
  readonly heardOf: number;
  /** The job has a task more, in place of a lost one. */
  replaces(task: number): void;
  assigned(task: number): void;
  /** Now and then. */
  tick(): void;
  /** The server stands still for a while. */
  standsStill(): void;
}

/** The job ends because something is lost or damaged that the server kept. */
export const isDamage = (code: ErrorBody['code']): boolean =>
  code === 'LOST_LOG' || code === 'DAMAGED_LOG' || code === 'LOST_CHECKPOINTS';

/** What lets a job end with a named error instead of its answer: run.ts asks the kit. */
export interface Excuses {
  /**
   * Tasks of whose arrivals or determinants power loss took records: the incarnation that executed then (undefined:
   * none did), once per loss.
   */
  powerLost: Map<number, (number | undefined)[]>;
  /** Tasks of whose arrivals or determinants a record has a flipped bit. */
  damagedLogs: Set<number>;
  /** Images of which a page was struck. */
  damagedImages: Set<string>;
  /** Tasks whose program takes every worker down. */
  poisoned: ReadonlySet<number>;
  /** More than links was hit. */
  beyondLinks: boolean;
}

/** Records of a stream that go: [from, to) without `keep`. */
export interface Trim {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly keep: ReadonlySet<number>;
}

/**
 * A protocol's kit: what it promises beyond the rules of this file. Hosts and {@link Checkers} report to it what
 * happens; it throws {@link Violation}. `cm` is the number of a Channel Memory.
 */
export interface ProtocolCheckers {
  /** Two lives of a task report the same step: does `life` count from now on, and `known` no longer? */
  supersedes(life: number, known: number): boolean;

  /** A life begins, and its start says how many messages to each receiver are logged. */
  began(task: number, life: number, limits: readonly (readonly [dst: number, logged: number])[]): void;
  /** A life that counts comes to a send. `again`: another life did, or this one. */
  sent(task: number, life: number, dst: number, channel: number, digest: number, again: boolean): void;
  /** …and the message goes out. */
  written(task: number, life: number, dst: number, channel: number): void;
  /** Arrival number `arrival` of the task is this message. {@link Histories} do not have it yet. */
  consumed(task: number, life: number, arrival: number, src: number, channel: number, digest: number | undefined): void;

  /** A frame is appended to a log. */
  logged(at: Place, frame: Frame): void;
  /** A log has this message, or had it until it was trimmed. */
  hasLogged?(src: number, dst: number, channel: number): boolean;
  /** Power loss, or the end of a process, took the records from `next` on. */
  cut(cm: number, stream: string, next: number): void;
  trims(cm: number, trim: Trim): void;

  /** A whole message of a task goes to its receiver, or to the world. */
  visible(src: number, dst: number, channel: number): void;
  /** A part of an arrival leaves for its receiver. */
  pushed(cm: number, header: Header): void;
  /** An ACK leaves for a comm worker. */
  acknowledged(cm: number, frame: Frame): void;
  /** The answer to the first attachment of an incarnation leaves. */
  attached(cm: number, frame: Frame): void;
  /** A Channel Memory shows message `channel` of a task to the world. */
  shows(cm: number, task: number, channel: number): void;
  /** The Channel Memories ended an incarnation. */
  refused(task: number, incarnation: number, error: ErrorBody): void;
  /** An image that lies there becomes complete. */
  imageComplete(task: number, position: Position): void;

  /** A registry entry is durable; undefined: its end is. */
  registered?(key: string, value: unknown): void;
  /** …and so is all of its commit. */
  commits?(changes: readonly (readonly [key: string, value: unknown])[]): void;

  /** Of coordinated checkpointing. */
  readonly waves?: WaveWitness;

  /** Of programs that recover themselves. */
  readonly recoveries?: RecoveriesWitness;

  /** The job may end with this error, because of what struck it. */
  excuses(error: ErrorBody, misfortunes: Excuses): boolean;
}

/** A kit of one run. */
export type Kit = (
  histories: Histories,
  stores: Stores,
  clusters?: readonly number[],
  ft?: FtModes & { readonly slotMs: number; readonly tasks: number },
) => ProtocolCheckers;

/** An image that becomes complete. */
export interface ImageComplete {
  readonly image: string;
  readonly task: number;
  readonly incarnation: number;
  readonly position: Position;
  /** All its pages are stored. */
  readonly whole: boolean;
}

/** What a life of a task reports. */
interface Reported<T> {
  life: number;
  value: T;
}

/** Lives of one incarnation: a clone that a restarted server takes for the first begins the incarnation once more. */
const LIVES = 1000;
export const incarnationOf = (life: number): number => Math.floor(life / LIVES);

export const name = (task: number): string =>
  task === WORLD ? 'world' : task === FILES ? 'file service' : String(task);

/** What a sender logs with this record; undefined: the record is not a sender's. */
function spoken({ header: h }: Frame): string | undefined {
  switch (h.kind) {
    case Kind.DATA:
    case Kind.ARRIVAL:
    case Kind.RESUPPLY:
      return `a part of message ${h.channel} to ${name(h.dst)}`;
    case Kind.DETERMINANTS:
      return 'determinants';
    default:
      return undefined;
  }
}

export class Checkers implements Witness, Histories {
  readonly kit: ProtocolCheckers;
  readonly files: FileChecker;
  private readonly sends = new Map<string, Reported<Sent>>();
  private readonly receipts = new Map<string, Reported<{ digest: number | undefined; place: number }>>();
  /** By place among all that a task has consumed. */
  private readonly order = new Map<string, Reported<{ src: number; channel: number }>>();
  /** By number among those that its log has. */
  private readonly arrivals = new Map<string, Reported<{ src: number; channel: number }>>();
  private readonly locals: LocalChannels;
  private readonly units: TeamUnits;
  private readonly given = new Map<string, string>();
  private readonly events = new Map<string, Reported<Outcome>>();
  private readonly seen = new Map<number, number[]>();
  /** Messages in the files now. */
  private readonly shown = new Map<number, number>();
  private readonly incarnations = new Map<number, number>();
  private readonly begun = new Map<number, number>();
  private lives = 0;
  /** The last life of a task that began. */
  private readonly latest = new Map<number, number>();
  /** Messages that were sent more than once, by re-execution. */
  repeated = 0;

  constructor(
    private readonly spec: ProgramSpec,
    kit: Kit,
    stores: Stores,
    clusters?: readonly number[],
    ft?: Parameters<Kit>[3],
  ) {
    this.kit = kit(this, stores, clusters, ft);
    this.locals = new LocalChannels(this);
    this.units = new TeamUnits(
      (task) => stores.isDone(task),
      (src, dst, channel) => this.kit.hasLogged?.(src, dst, channel) === true,
    );
    this.files = new FileChecker(spec.spawn?.first ?? spec.size, (life, known) => this.kit.supersedes(life, known));
  }

  // ---- what ranks do ----

  /** An incarnation executes, with these limits. Returns the name of this life of it. */
  began(task: number, incarnation: number, limits: readonly (readonly [number, number])[]): number {
    const life = incarnation * LIVES + (this.lives++ % LIVES);
    this.begun.set(task, Math.max(incarnation, this.begun.get(task) ?? 0));
    this.kit.began(task, life, limits);
    this.units.begins(task, incarnation);
    const given = this.given.get(`${task}.${incarnation}`);
    const received = this.units.imageOf(given)?.received;
    this.locals.begins(task, life, received, this.spec.prologueRounds !== undefined, given !== undefined);
    this.latest.set(task, Math.max(life, this.latest.get(task) ?? 0));
    return life;
  }

  sent(task: number, life: number, dst: number, channel: number, digest: number, at: Standing): void {
    const key = messageKey(task, dst, channel);
    const again = this.sends.has(key);
    if (again) this.repeated++;
    const standing = { ...at, mates: this.locals.knows(task, life) };
    if (this.note(this.sends, key, life, { digest, at: standing }))
      this.kit.sent(task, life, dst, channel, digest, again);
  }

  written(task: number, life: number, dst: number, channel: number): void {
    this.kit.written(task, life, dst, channel);
  }

  consumed(
    task: number,
    life: number,
    place: number,
    arrival: number | undefined,
    src: number,
    channel: number,
    digest: number | undefined,
  ): void {
    if (arrival === undefined) this.locals.consumed(task, life, src, channel, digest);
    else {
      this.kit.consumed(task, life, arrival, src, channel, digest);
      if (src < this.spec.size) this.locals.arrived(task, life, src, channel);
      this.note(this.arrivals, `${task}@${arrival}`, life, { src, channel });
    }
    this.note(this.order, `${task}@${place}`, life, { src, channel });
    const key = messageKey(src, task, channel);
    // an envelope: what came whole in an earlier life is void
    this.note(this.receipts, key, life, { digest, place });
  }

  jumped(task: number, life: number): void {
    this.locals.jumped(task, life);
  }

  took(task: number, life: number, r: number, body: Uint8Array): void {
    this.files.taken(task, life, r, body);
  }

  event(task: number, life: number, n: number, outcome: Outcome): void {
    this.note(this.events, `${task}:${n}`, life, outcome);
  }

  /** Notes the value unless the life that counts has reported another. */
  private note<T>(into: Map<string, Reported<T>>, key: string, life: number, value: T): boolean {
    const known = into.get(key);
    if (known && !this.kit.supersedes(life, known.life)) return false;
    into.set(key, { life, value });
    return true;
  }

  // ---- histories ----

  sentBy(src: number, dst: number, channel: number): Sent | undefined {
    return this.sends.get(messageKey(src, dst, channel))?.value;
  }

  arrival(task: number, arrival: number): { src: number; channel: number } | undefined {
    return this.arrivals.get(`${task}@${arrival}`)?.value;
  }

  teamOf(task: number): readonly number[] {
    return this.units.teamOf(task);
  }

  mayAct(task: number, life: number): boolean {
    return incarnationOf(life) >= (this.incarnations.get(task) ?? 0) && life >= (this.latest.get(task) ?? 0);
  }

  /** The newest incarnation of a task, and the one that executes, if it is that one. */
  acting(task: number): { assigned: number | undefined; executes: number | undefined } {
    const assigned = this.incarnations.get(task);
    const begun = this.begun.get(task);
    return { assigned, executes: begun !== undefined && begun === assigned ? begun : undefined };
  }

  // ---- what hosts do ----

  /** A frame is appended to a log. `speaker`: the incarnation that sent it, if one did. */
  logged(at: Place, speaker: number | undefined, frame: Frame): void {
    const what = spoken(frame);
    const task = frame.header.src;
    const begun = this.begun.get(task) ?? 0;
    if (what !== undefined && speaker !== undefined && speaker < begun)
      throw new Violation(`K7: incarnation ${speaker} of task ${task} logs ${what} while ${begun} executes`);
    this.kit.logged(at, frame);
  }

  world(task: number, channel: number, mode: number, body: Uint8Array): void {
    let seen = this.seen.get(task);
    if (!seen) this.seen.set(task, (seen = []));
    const digest = outputDigest(mode, body);
    const shown = this.shown.get(task) ?? 0;
    if (channel > shown + 1) throw new Violation(`K3: the world got message ${channel} of task ${task} after ${shown}`);
    this.shown.set(task, Math.max(shown, channel));
    if (channel <= seen.length) {
      if (seen[channel - 1] !== digest)
        throw new Violation(`K3: the world got message ${channel} of task ${task} twice, differently`);
      return;
    }
    this.kit.visible(task, WORLD, channel);
    seen.push(digest);
  }

  /** Power loss: the files keep the first `kept` messages of a task; the rest must come again, as it was. */
  unsee(task: number, kept: number): void {
    this.shown.set(task, kept);
  }

  assigned(a: Assigned): void {
    const { task, incarnation, image } = a;
    this.units.assigned(a);
    if (image !== undefined) this.given.set(`${task}.${incarnation}`, image);
    const before = this.incarnations.get(task) ?? -1;
    if (incarnation <= before)
      throw new Violation(`K4: incarnation ${incarnation} of task ${task} is assigned after ${before}`);
    this.incarnations.set(task, incarnation);
    this.kit.waves?.assigned(task, incarnation, image);
    this.kit.recoveries?.assigned(task);
  }

  /** An entry of the registry is durable. */
  registered(key: string, value: unknown): void {
    this.kit.registered?.(key, value);
    if (!key.startsWith('job/')) return;
    for (const d of (value as JobRecord | undefined)?.dissolved ?? []) this.units.dissolved(d);
  }

  /** A member of a team gives its image to the Checkpoint Server. `counts`: as it was when it was taken. */
  teamImage(image: string, counts: TeamImage): void {
    this.units.imageTaken(image, counts);
  }

  imageComplete({ image, task, incarnation, position, whole }: ImageComplete): void {
    const begun = this.begun.get(task) ?? 0;
    if (incarnation < begun)
      throw new Violation(
        `K7: an image of incarnation ${incarnation} of task ${task} is complete while ${begun} executes`,
      );
    if (!whole) throw new Violation(`K14: image ${image} is complete, and a page of it is not there`);
    this.kit.imageComplete(task, position);
  }

  /** K12. */
  bound(what: string, is: number, most: number): void {
    if (is > most) throw new Violation(`K12: ${what} is ${is}, at most ${most} are allowed`);
  }

  // ---- at the end ----

  /** K3, K5 and K6. Returns per task the digests of all that the world saw. */
  answer(): number[][] {
    const { spec } = this;
    for (let dst = 0; dst < spec.size; dst++) {
      const places = new Set<number>();
      for (let src = 0; src < spec.size; src++) {
        const all = due(spec, src, dst);
        for (let n = 1; n <= all; n++) {
          const sent = this.sentBy(src, dst, n);
          const got = this.receipts.get(messageKey(src, dst, n))?.value;
          if (!sent) throw new Violation(`K5: message ${n} of ${src} → ${dst} was never sent`);
          // consumed as an envelope; its body was pulled and is in the receiver's output
          if (got?.digest === undefined) continue;
          if (got.digest !== sent.digest)
            throw new Violation(
              `K5: message ${n} of ${src} → ${dst} was consumed with a content that its sender did not give it`,
            );
          if (places.has(got.place))
            throw new Violation(`K5: message ${got.place} that task ${dst} consumes is two messages`);
          places.add(got.place);
        }
        if (this.receipts.has(messageKey(src, dst, all + 1)))
          throw new Violation(`K5: task ${dst} consumed more than ${src} sends`);
      }
    }
    for (let task = 0; task < spec.size; task++) {
      const seen = this.seen.get(task) ?? [];
      const all = outputsDue(spec, task);
      if ((this.shown.get(task) ?? 0) !== all || seen.length !== all)
        throw new Violation(`K3: the world got ${seen.length} messages of task ${task}, it writes ${all}`);
      seen.forEach((digest, i) => {
        if (this.sentBy(task, WORLD, i + 1)?.digest !== digest)
          throw new Violation(`K3: the world got what task ${task} did not write`);
      });
    }
    this.files.atTheEnd();
    const answer = Array.from({ length: spec.size }, (_, t) => this.seen.get(t) ?? []);
    const modes = { output: WorldMode.STDOUT, exit: WorldMode.EXIT };
    const legal = execute(
      spec,
      spec.ordered
        ? undefined
        : {
            consumed: (t, k) => this.order.get(`${t}@${k}`)?.value,
            answer: (t, r) => this.files.takenBody(t, r),
            event: (t, n) => this.events.get(`${t}:${n}`)?.value,
          },
      modes,
    );
    if (typeof legal === 'string') throw new Violation(`K6: ${legal}`);
    legal.forEach((outputs, t) => {
      const differs = outputs.findIndex((d, i) => d !== answer[t]![i]);
      if (differs >= 0)
        throw new Violation(
          `K6: output ${differs + 1} of task ${t} is not that of ` +
            `${spec.ordered ? 'the fault-free run' : 'a legal execution'}`,
        );
    });
    return answer;
  }
}
