/**
 * What a simulated rank's comm worker has delivered to it: frames become arrivals, and bodies that it has pulled. Owns
 * the arrivals that are not consumed.
 */
import { Flag, Kind, readFrames } from '@mayfly/wire';

export interface Whole {
  number: number;
  src: number;
  channel: number;
  tag: number;
  size: number;
  body: Uint8Array | undefined;
}

export class Inbox {
  readonly arrivals: Whole[] = [];
  readonly pulled = new Map<number, Uint8Array>();
  private readonly asked = new Set<number>();
  /** Chunks of messages that are not whole, by sender. */
  private readonly parts = new Map<number, Uint8Array[]>();
  private readonly bodies = new Map<number, Uint8Array[]>();

  constructor(private readonly task: number) {}

  deliver(bytes: Uint8Array): void {
    for (const f of readFrames(bytes)) {
      const h = f.header;
      const pulled = h.kind === Kind.BODY;
      // The first chunk of an arrival makes void what came of its sender's message before.
      const parts = (pulled ? this.bodies.get(h.arrival) : h.offset > 0 ? this.parts.get(h.src) : undefined) ?? [];
      parts.push(f.body.slice());
      if (pulled) this.bodies.set(h.arrival, parts);
      else this.parts.set(h.src, parts);
      if ((h.flags & Flag.LAST) === 0) continue;
      const noBody = (h.flags & Flag.NO_BODY) !== 0;
      const body = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
      parts.reduce((o, p) => (body.set(p, o), o + p.length), 0);
      if (pulled) this.bodies.delete(h.arrival);
      else this.parts.delete(h.src);
      if (!noBody && body.length !== h.size)
        throw new Error(`task ${this.task}: a message of ${h.size} bytes came with ${body.length}`);
      if (pulled) this.pulled.set(h.arrival, body);
      else
        this.arrivals.push({
          number: h.arrival,
          src: h.src,
          channel: h.channel,
          tag: h.tag,
          size: h.size,
          body: noBody ? undefined : body,
        });
    }
  }

  /** The body of an arrival that is not kept; undefined: it is pulled from the log, once. */
  body(arrival: number, pull: () => void): Uint8Array | undefined {
    const body = this.pulled.get(arrival);
    if (body) {
      this.pulled.delete(arrival);
      this.asked.delete(arrival);
    } else if (!this.asked.has(arrival)) {
      this.asked.add(arrival);
      pull();
    }
    return body;
  }

  /** For the report of a run that does not end. */
  describe(): Record<string, unknown> {
    return {
      ready: this.arrivals.map((a) => a.number),
      parts: [...this.parts].map(([src, p]) => `${src}:${p.length}`),
      asked: [...this.asked],
    };
  }
}
