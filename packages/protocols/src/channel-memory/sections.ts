/**
 * Determinants of several tasks with one frame: those of a team (rules T5 and T14 in pessimistic/teams). "The CM logs
 * them first and keeps them in the message's record too"; what is pushed keeps the heads of all sections, so that a
 * receiver can give back what it knows of *every* member of the sender's team.
 */
import { Flag, HEADER_BYTES, decodeTeamBlock, teamHeads, type Frame, type Header, type TaskId } from '@mayfly/wire';
import { readEvidence, viewOf, type Evidence } from './records.ts';
import { protocolError } from './refuse.ts';
import type { Source, State } from './state.ts';

export const isTeam = (h: Pick<Header, 'flags'>): boolean => (h.flags & Flag.TEAM) !== 0;

/** One task's part of a team block. */
interface OfTask {
  readonly source: Source;
  readonly block: Uint8Array;
}

/**
 * The sections of the team block of a frame of `src`, its own first. Nobody brings determinants of a task outside its
 * team. @throws ProtocolError @throws MalformedDeterminants
 */
export function sectionsOf(s: State, src: TaskId, block: Uint8Array): OfTask[] {
  const together = s.policy.together;
  if (!together) throw protocolError('BAD_FRAME', 'this job has no teams');
  const sections = decodeTeamBlock(block);
  if (sections[0] && sections[0].task !== src)
    throw protocolError('BAD_FRAME', `the first section of a frame of task ${src} is of task ${sections[0].task}`);
  return sections.map(({ task, block: bytes }) => {
    const source = s.sources[task];
    if (!source || (task !== src && !together(src, task)))
      throw protocolError('BAD_FRAME', `task ${task} is not in the team of task ${src}`);
    return { source, block: bytes };
  });
}

/** Logs what is new in the block of a frame of `src`, at `o` of `bytes` (C2: before the message that carries it). */
export function logCarried(s: State, src: TaskId, f: Frame, bytes: Uint8Array, v: DataView, o: number): void {
  if (isTeam(f.header)) logSections(s, src, f.determinants);
  else if (f.header.detBytes > 0) s.policy.carried(s, s.sources[src]!, bytes, v, o, f.header.detBytes);
}

/** Logs what is new in each section (C2: before the message that carries it). */
export function logSections(s: State, src: TaskId, block: Uint8Array): void {
  for (const { source, block: b } of sectionsOf(s, src, block)) s.policy.carried(s, source, b, viewOf(b), 0, b.length);
}

/** What each section shows of its task's position, and whether it has entries. */
export function evidenceOf(
  s: State,
  src: TaskId,
  block: Uint8Array,
): { source: Source; evidence: Evidence; entries: number }[] {
  return sectionsOf(s, src, block).map(({ source, block: b }) => {
    const evidence = { determinants: 0, openPolls: 0, consumed: 0 };
    const entries = readEvidence(viewOf(b), 0, evidence);
    return { source, evidence, entries };
  });
}

/** The frame at `o` keeps the heads of its sections; header and heads slide towards the body. Returns its offset. */
export function slideOverSections(bytes: Uint8Array, v: DataView, o: number, h: Header): number {
  const block = o + HEADER_BYTES;
  const heads = teamHeads(decodeTeamBlock(bytes.subarray(block, block + h.detBytes)));
  const shift = h.detBytes - heads.length;
  h.detBytes = heads.length;
  v.setUint32(o + 60, heads.length, true);
  bytes.copyWithin(o + shift, o, block);
  bytes.set(heads, block + shift);
  return o + shift;
}
