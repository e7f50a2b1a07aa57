/**
 * The kit of `none`, which relays: nothing is promised of what outlives a process, and the loss of a node, of a rank or
 * of the server ends the job. While only links break, every message arrives.
 *
 *  K21 Messages of a channel are relayed once each, in the order of their numbers, as their sender wrote them.
 *  K22 A task lives once: nothing is sent or consumed twice.
 *  K23 Nothing goes from the server's memory that its receiver has not consumed.
 *
 * Owns: how many messages of each channel were relayed, and how much each task has consumed.
 */
import { WORLD, type ErrorBody, type Frame } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import { Records, type Place } from './records.ts';
import { name, type Excuses, type Histories, type ProtocolCheckers, type Stores, type Trim } from './universal.ts';

export class Relay implements ProtocolCheckers {
  private readonly records = new Records();
  /** By channel: messages relayed. */
  private readonly relayed = new Map<string, number>();
  /** By task: arrivals consumed. */
  private readonly consumedBy = new Map<number, number>();
  private readonly lives = new Map<number, number>();

  constructor(
    private readonly histories: Histories,
    private readonly stores: Stores,
  ) {}

  supersedes(life: number, known: number): boolean {
    return life === known;
  }

  // ---- what ranks do ----

  began(task: number, life: number): void {
    if (this.lives.has(task)) throw new Violation(`K22: task ${task} begins a second time`);
    this.lives.set(task, life);
  }

  sent(task: number, _life: number, dst: number, channel: number, _digest: number, again: boolean): void {
    if (again) throw new Violation(`K22: task ${task} sends message ${channel} to ${name(dst)} a second time`);
  }

  written(): void {
    // Every message goes out.
  }

  consumed(task: number, _life: number, arrival: number, _src: number, _channel: number): void {
    const before = this.consumedBy.get(task) ?? 0;
    if (arrival !== before + 1)
      throw new Violation(`K22: task ${task} consumes arrival ${arrival} after arrival ${before}`);
    this.consumedBy.set(task, arrival);
  }

  // ---- what passes through the server ----

  logged(at: Place, frame: Frame): void {
    const m = this.records.append(at, frame);
    if (m?.type !== 'message' || m.digest === undefined) return;
    const { src, dst, channel, digest } = m;
    const key = `${src}>${dst}`;
    const before = this.relayed.get(key) ?? 0;
    if (channel !== before + 1)
      throw new Violation(`K21: message ${channel} of ${name(src)} → ${name(dst)} is relayed after message ${before}`);
    this.relayed.set(key, channel);
    const sent = this.histories.sentBy(src, dst, channel);
    if (sent !== undefined && sent.digest !== digest)
      throw new Violation(
        `K21: message ${channel} of ${name(src)} → ${name(dst)} is relayed with a content that its sender did not give it`,
      );
  }

  cut(): void {
    // What the server's memory loses, the job loses: it ends.
  }

  trims(cm: number, { stream, from, to, keep }: Trim): void {
    const task = Number(stream.slice(1));
    if (this.stores.isDone(task)) return;
    const meanings = this.records.of(cm, stream);
    const consumed = this.consumedBy.get(task) ?? 0;
    for (let lsn = from; lsn < to; lsn++) {
      const m = meanings[lsn];
      if (m?.type === 'message' && m.dst !== WORLD && m.digest !== undefined && m.arrival > consumed && !keep.has(lsn))
        throw new Violation(
          `K23: CM ${cm} forgets arrival ${m.arrival} of task ${task}, which has consumed ${consumed}`,
        );
    }
  }

  // ---- what leaves ----

  visible(): void {
    // At once: nothing depends on a log.
  }

  pushed(): void {
    // As it came.
  }

  acknowledged(): void {
    // An ACK says that the server has a message, not that it outlives the server.
  }

  attached(): void {
    // There is nothing to repeat.
  }

  shows(): void {
    // At once.
  }

  refused(): void {
    // That a task cannot run again is what the protocol says.
  }

  imageComplete(task: number): void {
    throw new Violation(`K22: an image of task ${task} is complete, and no task runs again`);
  }

  // ---- how the job may end ----

  /** A deadlock is believed when nodes report it: no rank can be tried on another node. */
  excuses({ code }: ErrorBody, { beyondLinks }: Excuses): boolean {
    return beyondLinks && ['LOST_NODES', 'SERVER_RESTARTED', 'DEADLOCK'].includes(code);
  }
}
