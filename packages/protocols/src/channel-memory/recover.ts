/** Rebuilding the state from what is left of the streams. Everything that this does not restore is losable. */
import { BLOCK_HEAD_BYTES, Flag, HEADER_BYTES, decodeDeterminants, readFrame, taskId, type Frame } from '@mayfly/wire';
import type { ArrivalIndex } from './arrivals.ts';
import { addRange } from './ranges.ts';
import {
  BACK_KIND,
  BASE_KIND,
  SESSION_KIND,
  decodeBase,
  decodeSession,
  learn,
  parse,
  plain,
  readEvidence,
  viewOf,
  type Base,
} from './records.ts';
import { isTeam, recoverMates, recoverSections } from './sections.ts';
import { resumeStream, slotOf, touch, type State } from './state.ts';
import { channelOf, type Channel, type Destination, type Source, type World } from './tasks.ts';
import { bodyOf, cutWorld, emitWorld, keepsPart } from './world.ts';

type Records = Iterable<{ lsn: number; bytes: Uint8Array }>;

function evidence(s: State, f: Frame, v: DataView): void {
  if (f.header.detBytes < BLOCK_HEAD_BYTES) return;
  const source = s.sources[f.header.src];
  if (source === undefined) return;
  if (isTeam(f.header)) {
    recoverSections(s, f.determinants);
    return;
  }
  const e = { determinants: 0, openPolls: 0, consumed: 0 };
  readEvidence(v, HEADER_BYTES, e);
  learn(source.evidence, e);
  // Its determinants were logged beside it and may be lost: the message has them too. (streams() names `d` first.)
  if (readEvidence(v, HEADER_BYTES, e) > 0)
    s.policy.carried(s, source, f.determinants, viewOf(f.determinants), 0, f.header.detBytes);
}

function base(s: State, b: Base): void {
  for (const [src, determinants, openPolls, consumed] of b.evidence) {
    const source = s.sources[src];
    if (source) learn(source.evidence, { determinants, openPolls, consumed });
  }
}

interface Part {
  lsns: number[];
  bodies: Uint8Array[];
  bytes: number;
}

/**
 * Puts chunks together; calls `whole` for each message, in log order. `number`: arrival or channel number of the
 * message.
 */
function messages(
  s: State,
  records: Records,
  isWorld: boolean,
  onBase: (b: Base) => void,
  onBack: (count: number) => void,
  whole: (f: Frame, part: Part, lsn: number) => void,
): void {
  const parts = new Map<number, Part>();
  for (const { lsn, bytes: stored } of records) {
    const bytes = plain(stored);
    const v = viewOf(bytes);
    const f = readFrame(bytes, v, 0);
    if (f.header.kind === BASE_KIND) {
      const b = decodeBase(f.body);
      base(s, b);
      onBase(b);
      continue;
    }
    if (f.header.kind === BACK_KIND) {
      parts.clear();
      onBack((parse(f.body) as { count: number }).count);
      continue;
    }
    evidence(s, f, v);
    const p = f.header.offset === 0 ? { lsns: [], bodies: [], bytes: 0 } : parts.get(f.header.src);
    if (p === undefined || p.bytes !== f.header.offset) continue;
    parts.set(f.header.src, p);
    p.lsns.push(lsn);
    p.bytes += f.header.bytes;
    if (isWorld && keepsPart(s, f.header, p.bodies)) p.bodies.push(f.body);
    if ((f.header.flags & Flag.LAST) === 0) continue;
    parts.delete(f.header.src);
    whole(f, p, lsn);
  }
}

const restore = (index: ArrivalIndex, n: number, lsn: number, size: number, p: Part): number =>
  index.restore(n, lsn, size, p.lsns.length > 1 ? p.lsns : undefined);

export function recoverDestination(s: State, d: Destination, records: Records, next: number): void {
  resumeStream(s, d.stream, next);
  const seen = (src: number, count: number): Channel | undefined => {
    const slot = slotOf(s, src);
    if (slot < 0) return undefined;
    const c = channelOf(d, slot, taskId(src));
    c.count = Math.max(c.count, count);
    touch(s, c);
    return c;
  };
  messages(
    s,
    records,
    false,
    (b) => {
      d.index.atLeast(b.count);
      d.trimmed = Math.max(d.trimmed, b.trimmed);
      for (const [src, count] of b.channels) seen(src, count);
    },
    () => undefined,
    (f, p, lsn) => {
      if (seen(f.header.src, f.header.channel)) restore(d.index, f.header.arrival, lsn, f.header.size, p);
    },
  );
}

export function recoverWorld(s: State, w: World, records: Records, next: number): void {
  resumeStream(s, w.stream, next);
  messages(
    s,
    records,
    true,
    (b) => {
      w.index.atLeast(b.count);
      w.channel.count = Math.max(w.channel.count, b.count);
    },
    (count) => cutWorld(s, w, count),
    (f, p, lsn) => {
      restore(w.index, f.header.channel, lsn, f.header.size, p);
      w.channel.count = Math.max(w.channel.count, f.header.channel);
      emitWorld(s, w, f.header, bodyOf(w, f.header, p), lsn);
    },
  );
  touch(s, w.channel);
}

export function recoverSource(s: State, source: Source, records: Records, next: number): void {
  resumeStream(s, source.determinants, next);
  for (const { lsn, bytes } of records) {
    const f = readFrame(bytes, viewOf(bytes), 0);
    if (f.header.kind === SESSION_KIND) {
      if (f.header.incarnation < source.fence) continue;
      source.fence = f.header.incarnation;
      const session = decodeSession(f);
      source.nonce = session.nonce;
      source.unheard = session.unheard;
      source.nonceLsn = lsn;
      continue;
    }
    const b = decodeDeterminants(isTeam(f.header) ? recoverMates(s, f.determinants) : f.determinants);
    const end = b.first + b.entries.length;
    source.records.push({ lsn, first: b.first, end });
    addRange(source.held, b.first, end);
    learn(source.evidence, { determinants: end, openPolls: b.openPolls, consumed: b.consumed });
  }
}
