/**
 * What the records mean that hosts append to the disks of Channel Memories. Kits read them here, so that no host has to
 * know what its protocol writes.
 *
 * Owns: the meaning of each record by its place, as long as its disk has it, and messages of which not all parts are
 * there. Shares no code with the cores.
 */
import { Flag, Kind, decodeDeterminants, decodeTeamBlock, type Frame } from '@mayfly/wire';
import { digestOf } from '../program.ts';

/** Kinds of the records that stand for what was trimmed, and that say which session an incarnation belongs to. */
export const BASE_KIND = 64;
export const SESSION_KIND = 65;
/** Of the record with which a wave begins in a wave stream. */
export const WAVE_KIND = 67;

interface Base {
  readonly count: number;
  readonly channels: readonly (readonly [src: number, count: number])[];
}
export const baseOf = (f: Frame): Base => JSON.parse(new TextDecoder().decode(f.body)) as Base;

/** Where a record lies. */
export interface Place {
  readonly cm: number;
  readonly stream: string;
  readonly lsn: number;
}

/** What one record means. */
export type Meaning =
  | {
      readonly type: 'message';
      readonly src: number;
      readonly dst: number;
      readonly channel: number;
      /** Of a message to a task: its number in the receiver's order. */
      readonly arrival: number;
      /** Of the whole message; undefined: more parts follow. */
      readonly digest: number | undefined;
    }
  | { readonly type: 'determinants'; readonly task: number; readonly first: number; readonly end: number }
  /** Who an incarnation is, by its nonce. */
  | { readonly type: 'session'; readonly incarnation: number }
  /** Records of this wave follow. */
  | { readonly type: 'wave'; readonly wave: number; readonly epoch: number }
  /** Stands for what was trimmed: arrivals or messages to the world up to `count`, and how many of each sender. */
  | ({ readonly type: 'base' } & Base);

/** A message of a task, by the task that it is for and its number on that channel. */
export const messageKey = (src: number, dst: number, channel: number): string => `${src}>${dst}#${channel}`;

export class Records {
  private readonly streams = new Map<string, (Meaning | undefined)[]>();
  private readonly parts = new Map<string, Uint8Array[]>();

  /** A frame is appended. Returns what it means; undefined: nothing that is checked. */
  append({ cm, stream, lsn }: Place, f: Frame): Meaning | undefined {
    const m = this.read(f);
    if (!m) return undefined;
    const key = `${cm}/${stream}`;
    let list = this.streams.get(key);
    if (!list) this.streams.set(key, (list = []));
    return (list[lsn] = m);
  }

  private read(f: Frame): Meaning | undefined {
    const h = f.header;
    switch (h.kind) {
      case BASE_KIND:
        return { type: 'base', ...baseOf(f) };
      case SESSION_KIND:
        return { type: 'session', incarnation: h.incarnation };
      case WAVE_KIND:
        return { type: 'wave', wave: h.word, epoch: h.epoch };
      case Kind.DETERMINANTS: {
        // of a member of a team: its own section is the first
        const own = (h.flags & Flag.TEAM) === 0 ? f.determinants : decodeTeamBlock(f.determinants)[0]!.block;
        const { first, entries } = decodeDeterminants(own);
        return { type: 'determinants', task: h.src, first, end: first + entries.length };
      }
      case Kind.DATA:
      case Kind.ARRIVAL:
      case Kind.RESUPPLY:
        return {
          type: 'message',
          src: h.src,
          dst: h.dst,
          channel: h.channel,
          arrival: h.arrival,
          digest: this.join(f),
        };
      default:
        return undefined;
    }
  }

  /** Joins the parts of a message. */
  private join({ header: h, body }: Frame): number | undefined {
    const key = messageKey(h.src, h.dst, h.channel);
    const parts = h.offset === 0 ? [] : (this.parts.get(key) ?? []);
    parts.push(body.slice());
    this.parts.set(key, parts);
    if ((h.flags & Flag.LAST) === 0) return undefined;
    this.parts.delete(key);
    const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    parts.reduce((o, p) => (whole.set(p, o), o + p.length), 0);
    return digestOf(h.tag, h.mode, whole);
  }

  /** Records of a stream by their numbers; the list has holes. */
  of(cm: number, stream: string): readonly (Meaning | undefined)[] {
    return this.streams.get(`${cm}/${stream}`) ?? [];
  }

  /** A stream lost its end. Returns what is gone. */
  cut(cm: number, stream: string, next: number): Meaning[] {
    const gone = this.streams.get(`${cm}/${stream}`)?.splice(next) ?? [];
    return gone.flatMap((m) => m ?? []);
  }
}
