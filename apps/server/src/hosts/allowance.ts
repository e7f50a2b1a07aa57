/**
 * What the data links of one job may bring, in all: of a job that somebody without a token began, so that nothing that
 * its nodes send makes more of logs, memory or work than that.
 *
 * Owns: what is left. A message that would pass the limit closes its link, and ends the job once.
 */
import { CloseCode, type DataLink } from './data-link.ts';

export class Allowance {
  #bytes: number;
  #messages: number;
  readonly #spent: () => void;
  #over = false;

  constructor(bytes: number, messages: number, spent: () => void) {
    this.#bytes = bytes;
    this.#messages = messages;
    this.#spent = spent;
  }

  spend(link: Pick<DataLink, 'close'>, { length }: Uint8Array): boolean {
    if (!this.#over && length <= this.#bytes && this.#messages > 0) {
      this.#bytes -= length;
      this.#messages--;
      return true;
    }
    link.close(CloseCode.TOO_MANY, 'TOO_MANY: the job has sent all that it may');
    if (!this.#over) this.#spent();
    this.#over = true;
    return false;
  }
}
