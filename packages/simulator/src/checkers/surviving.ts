/**
 * The histories of all tasks that count: what each has sent and consumed since the start of the program, without what
 * rollbacks have undone. Each line of the registry cuts them back to its wave.
 *
 *  Q1 The cuts of a wave are consistent by what ranks had really sent and consumed when they took their images, and
 *     they are what the wave's record says.
 *  Q2 What a task consumes of a sender comes in order, each message once, also across a rollback.
 *  Q3 No task consumes a message that the surviving history of its sender did not send, or another content of it.
 *  Q5 No rollback undoes what the world has seen.
 *  Q19 A wave has only images of the incarnations that act.
 *
 * Owns: the surviving histories, where images were taken, how much the world has seen of each task.
 */
import { FILES, WORLD } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import { consumedBefore, memberOf, sentBefore, shownBefore, type Member, type Wave } from './wave-records.ts';

/** One task's history. */
interface History {
  /** Digests of its messages, by receiver. */
  readonly sends: Map<number, number[]>;
  /** Messages consumed, by sender. */
  readonly receives: Map<number, number>;
}

/** Where a rank was when it took an image. */
interface Taken {
  readonly incarnation: number;
  readonly sends: ReadonlyMap<number, number>;
  readonly receives: ReadonlyMap<number, number>;
  readonly held: readonly number[];
}

export class Surviving {
  private readonly tasks = new Map<number, History>();
  private readonly acting = new Map<number, number>();
  private readonly images = new Map<string, Taken>();
  private readonly shown = new Map<number, number>();

  private of(task: number): History {
    let h = this.tasks.get(task);
    if (!h) this.tasks.set(task, (h = { sends: new Map(), receives: new Map() }));
    return h;
  }

  /** The registry has this incarnation of the task. */
  raised(task: number, incarnation: number): void {
    this.acting.set(task, incarnation);
  }

  /** The incarnation that acts. */
  actingOf(task: number): number | undefined {
    return this.acting.get(task);
  }

  incarnations(): ReadonlyMap<number, number> {
    return this.acting;
  }

  /** Digests of what the task has sent to another one, or to the world. */
  sentTo(task: number, dst: number): readonly number[] {
    return this.of(task).sends.get(dst) ?? [];
  }

  // ---- what ranks do ----

  /** An incarnation that does not act any more does what it likes: nothing of it may be seen. */
  private acts(task: number, incarnation: number): boolean {
    return incarnation === (this.acting.get(task) ?? incarnation);
  }

  sent(task: number, incarnation: number, dst: number, channel: number, digest: number): void {
    if (!this.acts(task, incarnation)) return;
    const { sends } = this.of(task);
    const list = sends.get(dst) ?? [];
    sends.set(dst, list);
    if (channel !== list.length + 1)
      throw new Violation(
        `Q3: task ${task}.${incarnation} sends message ${channel} to ${dst} after ${list.length}: it did not begin ` +
          'where the line says',
      );
    list.push(digest);
  }

  /** `digest` undefined: it came without its body. */
  consumed(task: number, incarnation: number, src: number, channel: number, digest: number | undefined): void {
    if (!this.acts(task, incarnation)) return;
    const { receives } = this.of(task);
    const before = receives.get(src) ?? 0;
    if (channel !== before + 1)
      throw new Violation(`Q2: task ${task}.${incarnation} consumes message ${channel} of ${src} after ${before}`);
    receives.set(src, channel);
    if (src === WORLD || src === FILES) return;
    const wrote = this.sentTo(src, task)[channel - 1];
    if (wrote === undefined || (digest !== undefined && digest !== wrote))
      throw new Violation(
        `Q3: task ${task}.${incarnation} consumes message ${channel} of ${src}, ` +
          (wrote === undefined ? 'which was not sent' : 'with what an undone history sent'),
      );
  }

  imageTaken(task: number, incarnation: number, image: string, held: readonly number[]): void {
    const { sends, receives } = this.of(task);
    this.images.set(image, {
      incarnation: this.acts(task, incarnation) ? incarnation : -1,
      sends: new Map([...sends].map(([dst, list]) => [dst, list.length])),
      receives: new Map(receives),
      held,
    });
  }

  /** Arrivals that the image has without their bodies. */
  heldBy(image: string): readonly number[] {
    return this.images.get(image)?.held ?? [];
  }

  shows(task: number, channel: number): void {
    this.shown.set(task, Math.max(channel, this.shown.get(task) ?? 0));
  }

  // ---- what the registry has ----

  /** Q1, Q19: a wave counts from now on. `own`: a wave of these tasks only, who get messages of others as well. */
  committed({ wave, tasks }: Wave, own?: ReadonlySet<number>): void {
    const taken = new Map(tasks.map((m) => [m.task, m.state === 'image' ? this.genuine(wave, m) : undefined]));
    for (const p of tasks) {
      if (p.state === 'ended') continue;
      for (const [src, count] of taken.get(p.task)?.receives ?? []) {
        if (src === WORLD || src === FILES || own?.has(src) === false) continue;
        const sender = memberOf({ tasks }, src);
        const sent =
          sender?.state === 'ended' ? this.sentTo(src, p.task).length : (taken.get(src)?.sends.get(p.task) ?? 0);
        if (count > sent)
          throw new Violation(
            `Q1: wave ${wave}: task ${p.task} had consumed ${count} messages of ${src}, whose image has sent ${sent}`,
          );
      }
    }
  }

  private genuine(wave: number, m: Member): Taken {
    const taken = this.images.get(m.image!);
    if (!taken) throw new Violation(`Q19: wave ${wave} names image ${m.image}, which no rank took`);
    if (taken.incarnation !== this.acting.get(m.task))
      throw new Violation(
        `Q19: wave ${wave} names image ${m.image}, whose incarnation did not act; ${this.acting.get(m.task)} does`,
      );
    const channels = new Set([...taken.sends.keys(), ...(m.cut?.sends ?? []).map(([dst]) => dst)]);
    for (const dst of channels)
      if (sentBefore(m, dst) !== (taken.sends.get(dst) ?? 0))
        throw new Violation(
          `Q1: wave ${wave}: image ${m.image} had sent ${taken.sends.get(dst) ?? 0} messages to ${dst}, its cut says ` +
            String(sentBefore(m, dst)),
        );
    for (const src of new Set([...taken.receives.keys(), ...(m.cut?.receives ?? []).map(([q]) => q)]))
      if (consumedBefore(m, src) !== (taken.receives.get(src) ?? 0))
        throw new Violation(
          `Q1: wave ${wave}: image ${m.image} had consumed ${taken.receives.get(src) ?? 0} messages of ${src}, its ` +
            `cut says ${consumedBefore(m, src)}`,
        );
    return taken;
  }

  /** All go back, or these. Undefined: to the start of the program. */
  back(wave: Wave | undefined, own?: ReadonlySet<number>): void {
    for (const [task, history] of this.tasks) {
      if (own?.has(task) === false) continue;
      const m = wave && memberOf(wave, task);
      const shown = this.shown.get(task) ?? 0;
      if (shown > shownBefore(m))
        throw new Violation(
          `Q5: the world has seen ${shown} messages of task ${task}, and all go back to wave ${wave?.wave ?? 0}, ` +
            `which has ${shownBefore(m)}`,
        );
      if (m?.state === 'ended') continue;
      for (const [dst, list] of history.sends) list.length = Math.min(list.length, sentBefore(m, dst));
      history.receives.clear();
      for (const [src, count] of m?.cut?.receives ?? []) history.receives.set(src, count);
    }
  }

  /** Where some go back and others do not: nobody has consumed what is undone. */
  consistent(epoch: number): void {
    for (const [task, { receives }] of this.tasks)
      for (const [src, count] of receives)
        if (src !== WORLD && src !== FILES && count > this.sentTo(src, task).length)
          throw new Violation(
            `Q15: epoch ${epoch}: task ${task} has consumed ${count} messages of ${src}, of which ` +
              `${this.sentTo(src, task).length} are not undone`,
          );
  }
}
