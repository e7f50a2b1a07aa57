/**
 * What `pcl` promises besides: the order of marks, images and messages, as it leaves the nodes.
 *
 *  Q20 Between its mark and its cut in a wave a task's node sends no message that the task has sent after the mark,
 *      unless the task or the wave has ended.
 *  Q21 A task cuts after everybody else who has an image in the wave has marked.
 *
 * Owns: marks and cuts of the wave under way.
 */
import { Kind, WORLD, WorldMode, readFrames, type Mark } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import { name } from './universal.ts';
import type { Wave } from './wave-records.ts';

interface Frozen {
  readonly incarnation: number;
  readonly sends: ReadonlyMap<number, number>;
}

export class Blocking {
  private wave = 0;
  private readonly marks = new Map<number, Frozen>();
  /** By task: who had marked. */
  private readonly cuts = new Map<number, ReadonlySet<number>>();
  private readonly exits = new Set<number>();

  begins(wave: number): void {
    this.wave = wave;
    for (const all of [this.marks, this.cuts, this.exits]) all.clear();
  }

  ends(): void {
    this.begins(0);
  }

  /** A rank has written these frames into its ring. */
  writes(task: number, bytes: Uint8Array): void {
    for (const { header: h } of readFrames(bytes))
      if (h.kind === Kind.DATA && h.dst === WORLD && h.mode === WorldMode.EXIT) this.exits.add(task);
  }

  /** A node sends these frames to a Channel Memory. */
  leaves(bytes: Uint8Array): void {
    for (const { header: h, body } of readFrames(bytes)) {
      const mark = this.marks.get(h.src);
      if (h.kind === Kind.MARK && h.word === this.wave && !mark) {
        const { sends } = JSON.parse(new TextDecoder().decode(body)) as Mark;
        this.marks.set(h.src, { incarnation: h.incarnation, sends: new Map(sends) });
      } else if (h.kind === Kind.CUT && h.word === this.wave && !this.cuts.has(h.src))
        this.cuts.set(h.src, new Set(this.marks.keys()));
      else if (h.kind === Kind.DATA && mark?.incarnation === h.incarnation && !this.cuts.has(h.src))
        if (!this.exits.has(h.src) && h.channel > (mark.sends.get(h.dst) ?? 0))
          throw new Violation(
            `Q20: message ${h.channel} of ${h.src} → ${name(h.dst)} leaves after its mark of wave ${this.wave} and ` +
              'before its cut',
          );
    }
  }

  /** Q21. */
  committed({ wave, tasks }: Wave): void {
    if (wave !== this.wave) return;
    const members = tasks.filter((m) => m.state === 'image').map((m) => m.task);
    for (const p of members)
      for (const q of members)
        if (!this.cuts.get(p)?.has(q))
          throw new Violation(`Q21: in wave ${wave} task ${p} has cut before task ${q} had marked`);
  }
}
