/**
 * Checkers of a simulated run, independent of the cores: they look at what programs did, at what stands in the logs, at
 * what leaves for a receiver, and at what the world saw. Each throws {@link Violation} where it finds one.
 *
 *  K1  A logged message has one content, whichever incarnation sends it (re-execution repeats the execution). A message
 *      that was never logged may come out differently: nobody has seen it.
 *  K2  Arrival k of a task is one message, whichever incarnation consumes it.
 *  K3  The world sees each message of a task's channel once, in order, without gaps, and what the task wrote.
 *  K4  Incarnations of a task are assigned in rising order.
 *  K5  At the end every message between tasks was consumed exactly once, with the very content that its sender's last
 *      history gave it.
 *  K6  The run is one legal execution with the outputs that the world saw; an ordered program's outputs are the
 *      fault-free ones (legal.ts).
 *  K7  One acting incarnation: once one has begun, nothing of a lower one is logged, and no image of a lower one
 *      becomes complete.
 *  K8  Nothing becomes visible (pushed to a receiver, shown to the world) before the events that it depends on are
 *      logged.
 *  K9  What was acknowledged as synced is durable, and so is what nobody could give back: the counts that a restart is
 *      told, what the world sees, an envelope without its body, and under `strict` whatever leaves for a receiver
 *      (stores.ts).
 *  K10 Nothing is trimmed that a kept image would need, and nothing before a durable record stands for it (stores.ts).
 *  K11 Silent re-execution: no incarnation writes a message that it was told is logged.
 *  K12 Memory stays within its bounds: retention, pending determinants, what is under way to a receiver, what a Channel
 *  Memory holds.
 *  K13 Every run ends (run.ts).
 *  K14 An image is complete only when its pages, and all sends, outputs, determinants and arrivals before it, are
 *  durable (stores.ts).
 *  K15 A rank is given up as crashed only when it is, or when it has not begun in its time (world.ts).
 *  K16 Requests to the file service take effect once each, one after the other; answers and files are what that order
 *  gives (file-checker.ts).
 *  K17 What a node received and has not heard to be durable, it gives back to a log that lost it (server.ts).
 *  K20 A rank comes only to nodes that run programs of its kind (volunteer.ts).
 *
 * Power loss in `behind` mode takes logged, un-synced records back: {@link Checkers.cut} forgets them, and with them
 * what K1, K2 and K8 know.
 */
import { FILES, WORLD, WorldMode, type DeterminantBlock } from '@mayfly/wire';
import { FileChecker } from './file-checker.ts';
import { Violation } from './violation.ts';
import { execute, outputDigest, type Outcome } from './legal.ts';
import { digestOf, due, outputsDue, type ProgramSpec } from './program.ts';
import type { Position, Witness } from './rank.ts';

interface Told<T> {
  life: number;
  value: T;
}

/**
 * Lives of one incarnation: a clone that a restarted server takes for the first begins it anew. The later life is the
 * one that acts.
 */
const LIVES = 1000;
const incarnationOf = (life: number): number => Math.floor(life / LIVES);

/** A message that stands in a log. */
interface Logged {
  readonly digest: number;
  readonly at: Position | undefined;
  readonly lsn: number;
  /** Of a message to a task: its number in the receiver's order. */
  readonly arrival: number;
}

/** What one record of a stream means. */
export type Meaning =
  | {
      readonly type: 'message';
      readonly key: string;
      readonly src: number;
      readonly dst: number;
      readonly channel: number;
      readonly arrival: number;
      readonly last: boolean;
    }
  | { readonly type: 'determinants'; readonly task: number; readonly first: number; readonly end: number }
  /** Who an incarnation is, by its nonce. */
  | { readonly type: 'session'; readonly incarnation: number }
  /** Stands for what was trimmed: arrivals or messages to the world up to `count`, and how many of each sender. */
  | {
      readonly type: 'base';
      readonly count: number;
      readonly channels: readonly (readonly [src: number, count: number])[];
    };

export class Checkers implements Witness {
  /** Last told, by the latest life that told it. */
  readonly files: FileChecker;
  private readonly sends = new Map<string, Told<{ digest: number; at: Position }>>();
  private readonly receipts = new Map<string, Told<{ digest: number; arrival: number }>>();
  private readonly order = new Map<string, Told<{ src: number; channel: number }>>();
  private readonly events = new Map<string, Told<Outcome>>();
  readonly logs = new Map<string, Logged>();
  private readonly parts = new Map<string, Uint8Array[]>();
  /** Per stream, by LSN: what a record means; undefined: nothing that is checked. */
  readonly meanings = new Map<string, (Meaning | undefined)[]>();
  /** Per task and number: how many logs hold the determinant. */
  private readonly determinants = new Map<string, number>();
  private readonly seen = new Map<number, number[]>();
  /** Messages in the files now. */
  private readonly shown = new Map<number, number>();
  private readonly incarnations = new Map<number, number>();
  private readonly begun = new Map<number, number>();
  private readonly limits = new Map<string, number>();
  private readonly frontier = new Map<number, number>();
  private lives = 0;
  /** The last life of a task that began. */
  private readonly latest = new Map<number, number>();
  /** Messages that were sent more than once, by re-execution. */
  repeated = 0;
  /** Records that their disk lost: afterwards K8 would ask for what is rightly gone. */
  cuts = 0;

  constructor(private readonly spec: ProgramSpec) {
    this.files = new FileChecker(spec.spawn?.first ?? spec.size);
  }

  // ---- what ranks do ----

  /** An incarnation executes: it was told these limits. Returns the name of this life of it. */
  began(task: number, incarnation: number, limits: readonly (readonly [number, number])[]): number {
    const life = incarnation * LIVES + (this.lives++ % LIVES);
    this.begun.set(task, Math.max(incarnation, this.begun.get(task) ?? 0));
    for (const [dst, n] of limits) this.limits.set(`${task}.${life}>${dst}`, n);
    this.latest.set(task, Math.max(life, this.latest.get(task) ?? 0));
    return life;
  }

  sent(task: number, life: number, dst: number, channel: number, digest: number, at: Position): void {
    const key = `${task}>${dst}#${channel}`;
    if (this.sends.has(key)) this.repeated++;
    if (!tell(this.sends, key, life, { digest, at })) return;
    const logged = this.logs.get(key);
    if (logged !== undefined && logged.digest !== digest && this.mayAct(task, life))
      throw new Violation(
        `K1: incarnation ${incarnationOf(life)} gives message ${channel} of ${task} → ${name(dst)} another ` +
          'content than the log',
      );
  }

  /** The newest incarnation of a task, and the one that executes, if it is that one. */
  acting(task: number): { assigned: number | undefined; executes: number | undefined } {
    const assigned = this.incarnations.get(task);
    const begun = this.begun.get(task);
    return { assigned, executes: begun !== undefined && begun === assigned ? begun : undefined };
  }

  private mayAct(task: number, life: number): boolean {
    return incarnationOf(life) >= (this.incarnations.get(task) ?? 0) && life >= (this.latest.get(task) ?? 0);
  }

  written(task: number, life: number, dst: number, channel: number): void {
    const limit = this.limits.get(`${task}.${life}>${dst}`) ?? 0;
    if (channel <= limit)
      throw new Violation(
        `K11: incarnation ${incarnationOf(life)} of task ${task} sends message ${channel} to ${name(dst)}, ` +
          `of which ${limit} are logged`,
      );
  }

  consumed(
    task: number,
    life: number,
    arrival: number,
    src: number,
    channel: number,
    digest: number | undefined,
  ): void {
    const known = this.order.get(`${task}@${arrival}`);
    // a number that its log lost may become another message's
    const stands = known && this.logs.get(`${known.value.src}>${task}#${known.value.channel}`)?.arrival === arrival;
    if (stands && (known.value.src !== src || known.value.channel !== channel) && this.mayAct(task, life))
      throw new Violation(
        `K2: arrival ${arrival} of task ${task} was message ${known.value.channel} of ` +
          `${name(known.value.src)}, is ${channel} of ${name(src)} in incarnation ${incarnationOf(life)}`,
      );
    tell(this.order, `${task}@${arrival}`, life, { src, channel });
    const key = `${src}>${task}#${channel}`;
    if (digest !== undefined) tell(this.receipts, key, life, { digest, arrival });
    // an envelope: what came whole in an earlier life is void
    else if ((this.receipts.get(key)?.life ?? 0) <= life) this.receipts.delete(key);
  }

  took(task: number, life: number, r: number, body: Uint8Array): void {
    this.files.taken(task, life, r, body);
  }

  event(task: number, life: number, n: number, outcome: Outcome): void {
    tell(this.events, `${task}:${n}`, life, outcome);
  }

  // ---- what stands in the logs ----

  /** A chunk of a message was appended to a log, from this incarnation of its sender (undefined: not from a sender). */
  logged(
    stream: string,
    lsn: number,
    speaker: number | undefined,
    h: { src: number; dst: number; channel: number; tag: number; mode: number; offset: number; arrival: number },
    body: Uint8Array,
    last: boolean,
  ): void {
    const key = `${h.src}>${h.dst}#${h.channel}`;
    this.meaning(stream, lsn, {
      type: 'message',
      key,
      src: h.src,
      dst: h.dst,
      channel: h.channel,
      arrival: h.arrival,
      last,
    });
    this.acts(h.src, speaker, `a part of message ${h.channel} to ${name(h.dst)}`);
    const parts = h.offset === 0 ? [] : (this.parts.get(key) ?? []);
    parts.push(body.slice());
    this.parts.set(key, parts);
    if (!last) return;
    this.parts.delete(key);
    const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    parts.reduce((o, p) => (whole.set(p, o), o + p.length), 0);
    const digest = digestOf(h.tag, h.mode, whole);
    if (this.logs.has(key))
      throw new Violation(`K1: message ${h.channel} of ${name(h.src)} → ${name(h.dst)} is logged twice`);
    this.logs.set(key, { digest, at: this.sends.get(key)?.value.at, lsn, arrival: h.arrival });
  }

  loggedDeterminants(
    stream: string,
    lsn: number,
    task: number,
    speaker: number | undefined,
    block: DeterminantBlock,
  ): void {
    const end = block.first + block.entries.length;
    this.meaning(stream, lsn, { type: 'determinants', task, first: block.first, end });
    this.acts(task, speaker, 'determinants');
    this.hold(task, block.first, end, 1);
  }

  /** A record that stands for what will be trimmed before it. */
  loggedBase(
    stream: string,
    lsn: number,
    base: { count: number; channels: readonly (readonly [number, number])[] },
  ): void {
    this.meaning(stream, lsn, { type: 'base', count: base.count, channels: base.channels });
  }

  loggedSession(stream: string, lsn: number, incarnation: number): void {
    this.meaning(stream, lsn, { type: 'session', incarnation });
  }

  private hold(task: number, first: number, end: number, by: number): void {
    for (let n = first; n < end; n++)
      this.determinants.set(`${task}:${n}`, (this.determinants.get(`${task}:${n}`) ?? 0) + by);
    if (by < 0) this.frontier.set(task, Math.min(this.frontier.get(task) ?? 0, first));
  }

  /** Determinants [0, n) of a task are logged somewhere. Trimmed ones were, and count. */
  private known(task: number, n: number): boolean {
    let f = this.frontier.get(task) ?? 0;
    while ((this.determinants.get(`${task}:${f}`) ?? 0) > 0) f++;
    this.frontier.set(task, f);
    return f >= n;
  }

  private meaning(stream: string, lsn: number, m: Meaning): void {
    let list = this.meanings.get(stream);
    if (!list) this.meanings.set(stream, (list = []));
    list[lsn] = m;
  }

  /** A stream lost its end. */
  cut(stream: string, next: number): void {
    const list = this.meanings.get(stream) ?? [];
    for (const m of list.splice(next)) {
      if (m?.type === 'determinants') this.hold(m.task, m.first, m.end, -1);
      else if (m?.type === 'message' && m.last) this.logs.delete(m.key);
      else continue;
      this.cuts++;
    }
  }

  private acts(task: number, speaker: number | undefined, what: string): void {
    const begun = this.begun.get(task) ?? 0;
    if (speaker !== undefined && speaker < begun)
      throw new Violation(`K7: incarnation ${speaker} of task ${task} logs ${what} while ${begun} executes`);
  }

  // ---- what becomes visible ----

  /** A whole message of a task goes to its receiver, or to the world. */
  visible(src: number, dst: number, channel: number): void {
    if (src === WORLD || src === FILES || this.cuts > 0) return;
    const at = this.logs.get(`${src}>${dst}#${channel}`)?.at;
    if (at && !this.known(src, at.determinants))
      throw new Violation(
        `K8: message ${channel} of ${src} → ${name(dst)} becomes visible, determinants up to ` +
          `${at.determinants} of task ${src} are not logged (${this.frontier.get(src)} are)`,
      );
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
    this.visible(task, WORLD, channel);
    seen.push(digest);
  }

  /** Power loss: the files keep the first `kept` messages of a task; the rest must come again, as it was. */
  unsee(task: number, kept: number): void {
    this.shown.set(task, kept);
  }

  assigned(task: number, incarnation: number): void {
    const before = this.incarnations.get(task) ?? -1;
    if (incarnation <= before)
      throw new Violation(`K4: incarnation ${incarnation} of task ${task} is assigned after ${before}`);
    this.incarnations.set(task, incarnation);
  }

  imageComplete(task: number, incarnation: number): void {
    const begun = this.begun.get(task) ?? 0;
    if (incarnation < begun)
      throw new Violation(
        `K7: an image of incarnation ${incarnation} of task ${task} is complete while ${begun} executes`,
      );
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
      const arrivals = new Set<number>();
      for (let src = 0; src < spec.size; src++) {
        const all = due(spec, src, dst);
        for (let n = 1; n <= all; n++) {
          const sent = this.sends.get(`${src}>${dst}#${n}`)?.value;
          const got = this.receipts.get(`${src}>${dst}#${n}`)?.value;
          if (!sent) throw new Violation(`K5: message ${n} of ${src} → ${dst} was never sent`);
          if (!got) continue; // consumed as an envelope; its body was pulled and is in the receiver's output
          if (got.digest !== sent.digest)
            throw new Violation(
              `K5: message ${n} of ${src} → ${dst} was consumed with a content that its sender did not give it`,
            );
          if (arrivals.has(got.arrival))
            throw new Violation(`K5: arrival ${got.arrival} of task ${dst} is two messages`);
          arrivals.add(got.arrival);
        }
        if (this.receipts.has(`${src}>${dst}#${all + 1}`))
          throw new Violation(`K5: task ${dst} consumed more than ${src} sends`);
      }
    }
    for (let task = 0; task < spec.size; task++) {
      const seen = this.seen.get(task) ?? [];
      const all = outputsDue(spec, task);
      if ((this.shown.get(task) ?? 0) !== all || seen.length !== all)
        throw new Violation(`K3: the world got ${seen.length} messages of task ${task}, it writes ${all}`);
      seen.forEach((digest, i) => {
        if (this.sends.get(`${task}>${WORLD}#${i + 1}`)?.value.digest !== digest)
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
            arrival: (t, k) => this.order.get(`${t}@${k}`)?.value,
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

/** Notes the value unless a later life has told another. */
function tell<T>(into: Map<string, Told<T>>, key: string, life: number, value: T): boolean {
  const known = into.get(key);
  if (known && life < known.life) return false;
  into.set(key, { life, value });
  return true;
}

export const name = (task: number): string =>
  task === WORLD ? 'world' : task === FILES ? 'file service' : String(task);
