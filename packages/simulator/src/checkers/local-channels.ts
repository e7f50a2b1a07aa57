/**
 * K24, messages between teammates, which no log and no kit sees: what a life of a task consumes of a teammate comes
 * once each, in the order of the channel's numbers, with the content that its sender has given it. A message that its
 * sender's history does not have is an orphan.
 *
 * Owns: how many messages of each teammate a life has consumed.
 */
import { Violation } from '../violation.ts';

/** What tasks have sent, as the lives that count have it. */
export interface SentMessages {
  sentBy(src: number, dst: number, channel: number): { readonly digest: number } | undefined;
}

export class LocalChannels {
  private readonly counts = new Map<string, number>();

  constructor(private readonly histories: SentMessages) {}

  consumed(task: number, life: number, src: number, channel: number, digest: number | undefined): void {
    const key = `${src}>${task}.${life}`;
    const before = this.counts.get(key) ?? 0;
    const fail = (what: string): never => {
      throw new Violation(`K24: task ${task} consumes message ${channel} of teammate ${src}${what}`);
    };
    if (channel !== before + 1) fail(` after message ${before}`);
    this.counts.set(key, channel);
    const sent = this.histories.sentBy(src, task, channel);
    if (!sent) fail(', which was not sent');
    else if (sent.digest !== digest) fail(' with a content that its sender did not give it');
  }
}
