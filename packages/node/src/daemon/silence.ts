/**
 * Whether the server answers (N4 of daemon.ts): it owes one answer at a time. An overdue answer is reported once, and
 * once more when it has come after all.
 */

/** An answer that is owed for this long is reported as missing. */
const SILENT_MS = 4_000;

export class Silence {
  /** Since when the server owes an answer, or since the last sign of life after that; undefined: it owes none. */
  private owedSince: number | undefined;
  /** `owedSince`, once it is reported. */
  private silentSince: number | undefined;

  constructor(
    private readonly now: () => number,
    private readonly say: (kind: 'disconnected' | 'connected', text: string) => void,
  ) {}

  get owed(): boolean {
    return this.owedSince !== undefined;
  }

  /** Since when the server is reported as silent. */
  get since(): number | undefined {
    return this.silentSince;
  }

  /** Something was asked. */
  asked(now: number): void {
    this.owedSince = now;
  }

  /** Reports an overdue answer once. */
  listen(now: number): void {
    if (this.owedSince === undefined || this.silentSince !== undefined || now - this.owedSince < SILENT_MS) return;
    this.silentSince = this.owedSince;
    this.say('disconnected', 'The server does not answer, although the connection is open.');
  }

  /** A sign of life, which is not the answer: that is still owed, if one was. */
  heard(now: number): void {
    if (this.owedSince !== undefined) this.over(now);
  }

  /** The answer has come. */
  answered(): void {
    this.over(undefined);
  }

  private over(owedSince: number | undefined): void {
    this.owedSince = owedSince;
    if (this.silentSince === undefined) return;
    const silent = this.now() - this.silentSince;
    this.silentSince = undefined;
    this.say('connected', `The server answers again, after ${Math.round(silent / 1000)} s.`);
  }

  /** The connection is gone, and with it what was owed. */
  forget(): void {
    this.owedSince = this.silentSince = undefined;
  }
}
