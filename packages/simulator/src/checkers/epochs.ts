/**
 * Rollbacks, from one line of the registry to the next.
 *
 *  Q7 All go back to a wave that is committed, or to the start of the program; each rank gets the image that this wave
 *     names, or none.
 *  Q9 A line raises the incarnation of every task that has not exited for good. No rank is assigned before everybody
 *     has gone back, and no incarnation begins twice. When ranks go on, nothing goes to an older incarnation any more.
 *
 * Owns: the line, which Channel Memories have gone back to it, the incarnations that it raised.
 */
import type { Header } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import type { Line, Wave } from './wave-records.ts';

export interface EpochsKnow {
  /** How many Channel Memories there are. */
  logs(): number;
  /** Highest durable incarnation of a task, and before this commit. */
  raised(task: number): number | undefined;
  before(): ReadonlyMap<number, number>;
  isDone(task: number): boolean;
  wave(number: number): Wave | undefined;
}

export class Epochs {
  private line: Line = { epoch: 0, wave: 0 };
  private to: Wave | undefined;
  /** From a line, or a start of the server, until everybody has gone back. */
  private rolling = false;
  private lives = 0;
  private readonly back = new Map<number, number>();
  private readonly begun = new Set<string>();
  private floor: ReadonlyMap<number, number> = new Map();

  constructor(private readonly know: EpochsKnow) {}

  get epoch(): number {
    return this.line.epoch;
  }

  serverBegins(): void {
    this.rolling = this.lives++ > 0;
    this.back.clear();
  }

  /** Q7, Q9: a line is durable, and with it the incarnations. */
  drawn(line: Line): void {
    if (line.epoch <= this.line.epoch) throw new Violation(`Q9: epoch ${line.epoch} is drawn after ${this.line.epoch}`);
    this.line = line;
    this.to = this.know.wave(line.wave);
    if (line.wave !== 0 && !this.to)
      throw new Violation(`Q7: all go back to wave ${line.wave}, which is not committed`);
    for (const [task, before] of this.know.before())
      if (!this.know.isDone(task) && (this.know.raised(task) ?? 0) <= before)
        throw new Violation(`Q9: epoch ${line.epoch} begins, and task ${task} keeps incarnation ${before}`);
  }

  rollsBack(): void {
    this.rolling = true;
  }

  wentBack(cm: number, epoch: number): void {
    this.back.set(cm, epoch);
  }

  goesOn(acting: ReadonlyMap<number, number>): void {
    for (let cm = 0; cm < this.know.logs(); cm++)
      if (this.back.get(cm) !== this.line.epoch)
        throw new Violation(
          `Q9: ranks go on in epoch ${this.line.epoch}, and Channel Memory ${cm} has gone back to ` +
            String(this.back.get(cm)),
        );
    this.rolling = false;
    this.floor = new Map(acting);
  }

  assigned(task: number, incarnation: number, image: string | undefined): void {
    if (this.rolling) throw new Violation(`Q9: task ${task}.${incarnation} is assigned while all go back`);
    const m = this.to?.tasks[task];
    if (m?.state === 'ended')
      throw new Violation(`Q7: task ${task}.${incarnation} is assigned, and had ended in wave ${this.line.wave}`);
    if (image !== m?.image)
      throw new Violation(
        `Q7: task ${task}.${incarnation} gets image ${image}, and wave ${this.line.wave} has ${m?.image}`,
      );
  }

  began(task: number, incarnation: number): void {
    const key = `${task}.${incarnation}`;
    if (this.begun.has(key)) throw new Violation(`Q9: task ${key} begins twice`);
    this.begun.add(key);
  }

  /** An arrival leaves for this incarnation of its receiver. */
  pushed(cm: number, { dst, src, channel, incarnation }: Header): void {
    const least = this.floor.get(dst) ?? 0;
    if (incarnation < least)
      throw new Violation(
        `Q9: Channel Memory ${cm} pushes message ${channel} of ${src} to ${dst}.${incarnation}; ${least} acts`,
      );
  }
}
