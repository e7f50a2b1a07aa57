/** What kits of protocols have in common whose ranks have no log of their own: checkpoints count together. */
import type { ErrorBody } from '@mayfly/wire';
import { Violation } from '../violation.ts';
import { isDamage, type Excuses } from './universal.ts';

export abstract class WithoutLog {
  // ---- of no concern ----

  written(): void {
    // Every message goes out.
  }

  visible(): void {
    // Between tasks at once; to the world: shows.
  }

  acknowledged(): void {
    // An ACK says that the server has a message.
  }

  attached(): void {
    // There is nothing to repeat.
  }

  /** Q3: what no comm worker of ours says, unless CUT came behind what was sent after it. */
  refused(task: number, incarnation: number, { code, message }: ErrorBody): void {
    if (code === 'OUT_OF_SEQUENCE')
      throw new Violation(`Q3: a Channel Memory refuses task ${task}.${incarnation}: ${message}`);
  }

  imageComplete(): void {
    // It counts with its wave or its CLC: whole.
  }

  // ---- how the job may end ----

  /** What is damaged on the server's disk may end the job, with its name. */
  excuses({ code }: ErrorBody, { damagedLogs, damagedImages }: Excuses): boolean {
    return isDamage(code) && (damagedLogs.size > 0 || damagedImages.size > 1);
  }
}
