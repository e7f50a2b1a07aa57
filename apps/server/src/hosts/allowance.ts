/**
 * What the data links of one job may bring, in all: of a job that somebody without a token began, so that nothing that
 * its nodes send makes more of logs, memory or work than that.
 *
 * Owns: what is left. A message that would pass the limit closes its link, and ends the job once.
 */
import type { ErrorBody } from '@mayfly/wire';
import { CloseCode, type DataLink } from './data-link.ts';

export interface AllowanceLimits {
  readonly bytes: number;
  readonly messages: number;
}

export class Allowance {
  readonly #limits: AllowanceLimits;
  readonly #failed: (error: ErrorBody) => void;
  #bytes: number;
  #messages: number;
  #over = false;

  /** @param failed ends the job, called once */
  constructor(limits: AllowanceLimits, failed: (error: ErrorBody) => void) {
    this.#limits = limits;
    this.#failed = failed;
    this.#bytes = limits.bytes;
    this.#messages = limits.messages;
  }

  /** @returns false: the message is one too many; its link is closed, and nothing of it counts */
  spend(link: Pick<DataLink, 'close'>, { length }: Uint8Array): boolean {
    if (!this.#over && length <= this.#bytes && this.#messages > 0) {
      this.#bytes -= length;
      this.#messages--;
      return true;
    }
    link.close(CloseCode.TOO_MANY, 'TOO_MANY: the job has sent all that it may');
    const { bytes, messages } = this.#limits;
    if (!this.#over)
      this.#failed({
        code: 'LOG_LIMIT',
        message: `The nodes of the job sent more than ${bytes} bytes or ${messages} messages, its limits.`,
      });
    this.#over = true;
    return false;
  }
}
