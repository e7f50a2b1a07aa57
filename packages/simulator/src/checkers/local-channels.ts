/**
 * K24, messages between teammates, which no log and no kit sees: what a life of a task consumes of a teammate comes
 * once each, in the order of the channel's numbers, with the content that its sender has given it. A message that its
 * sender's history does not have is an orphan.
 *
 * Owns: how many messages of each teammate a life has consumed, and how far each of them was that it knows of (K8).
 */
import type { Standing } from '../rank-host.ts';
import { Violation } from '../violation.ts';

/** What tasks have sent, as the lives that count have it. */
export interface SentMessages {
  sentBy(src: number, dst: number, channel: number): { readonly digest: number; readonly at: Standing } | undefined;
  /** This life is the latest of the task's newest incarnation. */
  mayAct(task: number, life: number): boolean;
}

export class LocalChannels {
  private readonly counts = new Map<string, number>();

  private readonly known = new Map<string, Map<number, number>>();

  /** Lives that are at their image, or behind it: what they had consumed before is known as far as that says. */
  private readonly later = new Set<string>();

  /** Of a script that begins with an image: what that had consumed, as long as the prologue is repeated. */
  private readonly jumps = new Map<string, ReadonlyMap<number, number>>();

  /** A life begins with an image that had consumed so much. `script`: its program begins at its start. */
  begins(
    task: number,
    life: number,
    received: ReadonlyMap<number, number> | undefined,
    script: boolean,
    image: boolean,
  ): void {
    if (!image) return;
    this.jumps.set(`${task}.${life}`, received ?? new Map());
    if (!script) this.jumped(task, life);
  }

  /** It goes on at its image. */
  jumped(task: number, life: number): void {
    const key = `${task}.${life}`;
    const received = this.jumps.get(key);
    if (!received) return;
    this.jumps.delete(key);
    this.later.add(key);
    for (const of of this.counts.keys()) if (of.endsWith(`>${key}`)) this.counts.delete(of);
    for (const [src, n] of received) this.counts.set(`${src}>${key}`, n);
  }

  constructor(private readonly histories: SentMessages) {}

  /** A channel goes on when its route changes (T2). */
  arrived(task: number, life: number, src: number, channel: number): void {
    const before = this.before(task, life, src);
    if (before !== undefined && channel !== before + 1)
      throw new Violation(`K24: task ${task} consumes message ${channel} of task ${src} after message ${before}`);
    this.counts.set(`${src}>${task}.${life}`, channel);
  }

  /** Undefined: it began with an image, and nobody has counted these. */
  private before(task: number, life: number, src: number): number | undefined {
    return this.counts.get(`${src}>${task}.${life}`) ?? (this.later.has(`${task}.${life}`) ? undefined : 0);
  }

  consumed(task: number, life: number, src: number, channel: number, digest: number | undefined): void {
    const key = `${src}>${task}.${life}`;
    const before = this.before(task, life, src);
    const fail = (what: string): never => {
      throw new Violation(`K24: task ${task} consumes message ${channel} of teammate ${src}${what}`);
    };
    if (before !== undefined && channel !== before + 1) fail(` after message ${before}`);
    this.counts.set(key, channel);
    // A team that was replaced goes on among itself until it hears of that. Its messages are not in the history.
    if (!this.histories.mayAct(task, life)) return;
    const sent = this.histories.sentBy(src, task, channel);
    if (!sent) fail(', which was not sent');
    else if (sent.digest !== digest) fail(' with a content that its sender did not give it');
    else this.learns(task, life, [[src, sent.at.determinants], ...(sent.at.mates ?? [])]);
  }

  /** Determinants of its teammates on which what it does now depends. */
  knows(task: number, life: number): ReadonlyMap<number, number> {
    return new Map(this.known.get(`${task}.${life}`));
  }

  private learns(task: number, life: number, what: readonly (readonly [number, number])[]): void {
    const mine = this.known.get(`${task}.${life}`) ?? new Map<number, number>();
    this.known.set(`${task}.${life}`, mine);
    for (const [mate, n] of what) if (mate !== task) mine.set(mate, Math.max(n, mine.get(mate) ?? 0));
  }
}
