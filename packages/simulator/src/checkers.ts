/**
 * Checkers of a simulated run, independent of the cores: they look at what programs sent and consumed, at what stands in the logs, and
 * at what the world saw.
 *
 *  K1 A logged message has one content, whichever incarnation sends it (re-execution repeats the execution). A message that was never
 *     logged may come out differently: nobody has seen it.
 *  K2 Arrival k of a task is one message, whichever incarnation consumes it.
 *  K3 The world sees each message of a task's channel once, in order, without gaps, and what the task wrote.
 *  K4 Incarnations of a task are assigned in rising order.
 *  K5 At the end the world has all output and every exit, and every message between tasks was consumed exactly once with the very
 *     content that its sender's last history gave it.
 *  K6 An ordered program's answer is that of the undisturbed run (run.ts).
 *
 * Power loss in `behind` mode may take back what is logged and un-synced, and with it K1 and K2 for what nobody else depends on; then
 * K5 alone says whether one consistent execution came out.
 */
import { WORLD } from '@mayfly/wire';
import type { ProgramSpec } from './program.ts';
import { mixBytes, traffic } from './program.ts';
import type { Witness } from './rank.ts';

export class Violation extends Error {
  override readonly name = 'Violation';
}

interface Told {
  incarnation: number;
  digest: number;
}

export class Checkers implements Witness {
  /** Last told content of message n of a channel, by the highest incarnation that told it; of consumption likewise. */
  private readonly sends = new Map<string, Told>();
  private readonly receipts = new Map<string, Told & { arrival: number }>();
  private readonly logs = new Map<string, number>();
  private readonly parts = new Map<string, Uint8Array[]>();
  private readonly order = new Map<string, string>();
  private readonly seen = new Map<number, number[]>();
  private readonly incarnations = new Map<number, number>();
  /** Un-synced records were lost: see above. */
  forgetful = false;
  /** Messages that were sent more than once, by re-execution. */
  repeated = 0;

  constructor(private readonly spec: ProgramSpec) {}

  sent(task: number, incarnation: number, dst: number, channel: number, digest: number): void {
    const key = `${task}>${dst}#${channel}`;
    const known = this.sends.get(key);
    if (known) this.repeated++;
    if (!known || incarnation >= known.incarnation) this.sends.set(key, { incarnation, digest });
    const logged = this.logs.get(key);
    if (logged !== undefined && logged !== digest && !this.forgetful && incarnation >= (this.incarnations.get(task) ?? 0))
      throw new Violation(`K1: incarnation ${incarnation} gives message ${channel} of ${task} → ${dst} another content than the log`);
  }

  /** A chunk of a message was appended to a log. */
  logged(src: number, incarnation: number, dst: number, channel: number, tag: number, mode: number, body: Uint8Array, offset: number, last: boolean): void {
    const key = `${src}>${dst}#${channel}`;
    const parts = offset === 0 ? [] : (this.parts.get(key) ?? []);
    parts.push(body.slice());
    this.parts.set(key, parts);
    if (!last) return;
    const digest = mixBytes(tag + mode * 1000, parts.flatMap((p) => [...p]));
    const known = this.logs.get(key);
    if (known !== undefined && !this.forgetful) throw new Violation(`message ${channel} of ${src} → ${dst} is logged twice (incarnation ${incarnation})`);
    this.logs.set(key, digest);
  }

  consumed(task: number, incarnation: number, arrival: number, src: number, channel: number, digest: number | undefined): void {
    const what = `${src}#${channel}`;
    const known = this.order.get(`${task}@${arrival}`);
    if (known !== undefined && known !== what && !this.forgetful && incarnation >= (this.incarnations.get(task) ?? 0))
      throw new Violation(`K2: arrival ${arrival} of task ${task} was message ${known}, is ${what} in incarnation ${incarnation}`);
    this.order.set(`${task}@${arrival}`, what);
    if (digest === undefined) return;
    const key = `${src}>${task}#${channel}`;
    const before = this.receipts.get(key);
    if (!before || incarnation >= before.incarnation) this.receipts.set(key, { incarnation, digest, arrival });
  }

  world(task: number, channel: number, mode: number, body: Uint8Array): void {
    let seen = this.seen.get(task);
    if (!seen) this.seen.set(task, (seen = []));
    const digest = mixBytes(mode * 1000, body);
    if (channel > seen.length + 1) throw new Violation(`K3: the world got message ${channel} of task ${task} after ${seen.length}`);
    if (channel <= seen.length) {
      if (seen[channel - 1] !== digest) throw new Violation(`K3: the world got message ${channel} of task ${task} twice, differently`);
      return;
    }
    seen.push(digest);
  }

  assigned(task: number, incarnation: number): void {
    const before = this.incarnations.get(task) ?? -1;
    if (incarnation <= before) throw new Violation(`K4: incarnation ${incarnation} of task ${task} is assigned after ${before}`);
    this.incarnations.set(task, incarnation);
  }

  /** K3 and K5 at the end, and what K6 compares: per task the digests of all that the world saw. */
  answer(): number[][] {
    const { spec } = this;
    for (let dst = 0; dst < spec.size; dst++) {
      const arrivals = new Set<number>();
      for (let src = 0; src < spec.size; src++) {
        let due = 0;
        for (let round = 0; round < spec.rounds; round++) due += traffic(spec, round, src, dst);
        for (let n = 1; n <= due; n++) {
          const sent = this.sends.get(`${src}>${dst}#${n}`);
          const got = this.receipts.get(`${src}>${dst}#${n}`);
          if (!sent) throw new Violation(`K5: message ${n} of ${src} → ${dst} was never sent`);
          if (!got) continue; // consumed as an envelope; its body was pulled and is in the receiver's output
          if (got.digest !== sent.digest) throw new Violation(`K5: message ${n} of ${src} → ${dst} was consumed with a content that its sender did not give it`);
          if (arrivals.has(got.arrival)) throw new Violation(`K5: arrival ${got.arrival} of task ${dst} is two messages`);
          arrivals.add(got.arrival);
        }
        if (this.receipts.has(`${src}>${dst}#${due + 1}`)) throw new Violation(`K5: task ${dst} consumed more than ${src} sends`);
      }
    }
    for (let task = 0; task < spec.size; task++) {
      const seen = this.seen.get(task) ?? [];
      if (seen.length !== spec.rounds + 1) throw new Violation(`K5: the world got ${seen.length} messages of task ${task}, it writes ${spec.rounds + 1}`);
      seen.forEach((digest, i) => {
        if (this.sends.get(`${task}>${WORLD}#${i + 1}`)?.digest !== digest) throw new Violation(`K3: the world got what task ${task} did not write`);
      });
    }
    return Array.from({ length: spec.size }, (_, t) => this.seen.get(t) ?? []);
  }
}
