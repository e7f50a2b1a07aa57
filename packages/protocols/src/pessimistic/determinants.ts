/** Determinants by source: what a frame's block adds, and what a restarted source gets back. */
import {
  BLOCK_HEAD_BYTES,
  EMPTY,
  Flag,
  Kind,
  decodeDeterminants,
  emptyHeader,
  encodeDeterminants,
  encodeFrame,
  encodeTeamBlock,
  type TeamSection,
} from '@mayfly/wire';
import { addRange, missing } from '../channel-memory/ranges.ts';
import { learn, readEvidence, type Evidence } from '../channel-memory/records.ts';
import { ackSoon, append, type State } from '../channel-memory/state.ts';
import type { Attachment, DeterminantRecord, Source } from '../channel-memory/tasks.ts';
import { checkPosition } from './unheard.ts';
import { aloneOf } from './teams/position.ts';

const scratch: Evidence = { determinants: 0, openPolls: 0, consumed: 0 };

/**
 * Logs what is new in the block at `o` (C2: before the message that carries it). @throws MalformedDeterminants
 */
export function logDeterminants(
  s: State,
  source: Source,
  bytes: Uint8Array,
  v: DataView,
  o: number,
  length: number,
  mates: readonly TeamSection[] = [],
): void {
  if (length >= BLOCK_HEAD_BYTES) {
    const entries = readEvidence(v, o, scratch);
    checkPosition(s, source, scratch.consumed, scratch.determinants - entries);
    if (entries === 0) return learn(source.evidence, scratch);
  }
  const block = decodeDeterminants(bytes.subarray(o, o + length));
  const end = block.first + block.entries.length;
  for (const [from, to] of missing(source.held, block.first, end)) {
    if (from === block.first && to === end) {
      const lsn = append(s, source.determinants, encodeDeterminantFrame(source, bytes.subarray(o, o + length), mates));
      source.records.push({ lsn, first: from, end: to });
      addRange(source.held, from, to);
      continue;
    }
    const entries = block.entries.slice(from - block.first, to - block.first);
    const det = encodeDeterminants({
      first: from,
      consumed: block.consumed,
      openPolls: to === end ? block.openPolls : 0,
      entries,
    });
    source.records.push({
      lsn: append(s, source.determinants, encodeDeterminantFrame(source, det, mates)),
      first: from,
      end: to,
    });
    addRange(source.held, from, to);
  }
  source.blockFirst = block.first;
  source.blockEnd = end;
  scratch.determinants = end;
  scratch.consumed = block.consumed;
  scratch.openPolls = block.openPolls;
  learn(source.evidence, scratch);
  ackSoon(s, source);
}

/** Everything a restart asks for: the prologue's, then from the image on; last the evidence alone. */
export function sendDeterminants(s: State, source: Source, a: Attachment): void {
  const { prologue, image } = aloneOf(a.position);
  for (const r of source.records) {
    if (r.first < prologue.determinants || r.end > image.determinants)
      s.out.push({
        type: 'sendRecord',
        conn: a.conn,
        stream: source.determinants.name,
        lsn: r.lsn,
        kind: Kind.DETERMINANTS,
        incarnation: a.incarnation,
        arrival: 0,
        envelope: false,
      });
  }
  const e = source.evidence;
  const head = encodeDeterminants({ first: e.determinants, consumed: e.consumed, openPolls: e.openPolls, entries: [] });
  const frame = encodeDeterminantFrame(source, head);
  new DataView(frame.buffer).setUint32(16, a.incarnation, true);
  s.out.push({ type: 'send', conn: a.conn, bytes: frame });
}

/**
 * Determinants in [prologue, image) may go, but for the record of the last of all: it says how many there were (C7),
 * and an incarnation that begins at the image continues behind them (F5). Returns the LSNs as [from, to) without keep.
 */
export function trimDeterminants(source: Source, prologue: number, image: number): { to: number; keep: Set<number> } {
  const keep = new Set<number>();
  let to = 0;
  let last: DeterminantRecord | undefined;
  for (const r of source.records) if (last === undefined || r.end > last.end) last = r;
  const left = source.records.filter((r) => {
    if (r !== last && r.end <= image && r.first >= prologue) {
      to = Math.max(to, r.lsn + 1);
      return false;
    }
    return true;
  });
  for (const r of left) if (r.lsn < to) keep.add(r.lsn);
  if (source.nonceLsn !== undefined && source.nonceLsn < to) keep.add(source.nonceLsn);
  source.records = left;
  return { to, keep };
}

/**
 * T5, T14: with the sections of its teammates that came with it. Its local messages depend on what they had done: if a
 * loss of power takes their records and spares this one, nothing is lost that leaves no copy here.
 */
function encodeDeterminantFrame(source: Source, block: Uint8Array, mates: readonly TeamSection[] = []): Uint8Array {
  const h = emptyHeader(Kind.DETERMINANTS);
  h.src = source.task;
  h.dst = source.task;
  h.incarnation = source.fence;
  if (mates.length === 0) return encodeFrame(h, EMPTY, block);
  h.flags = Flag.TEAM;
  return encodeFrame(h, EMPTY, encodeTeamBlock([{ task: source.task, block }, ...mates]));
}
