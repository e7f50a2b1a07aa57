/**
 * Determinants of several tasks with one frame: those of a team (rules T5 and T14 in pessimistic/teams). "The CM logs
 * them first and keeps them in the message's record too", and each task's record has those of the others that came with
 * it: one sync covers them all, but a loss of power may come in its middle. So whatever record survives has what it
 * depends on. What is pushed keeps the heads of all sections, so that a receiver can give back what it knows of *every*
 * member of the sender's team.
 */
import {
  Flag,
  HEADER_BYTES,
  MalformedDeterminants,
  decodeTeamBlock,
  teamHeads,
  type Frame,
  type Header,
  type TaskId,
} from '@mayfly/wire';
import type { Dissolved } from '../contract/dissolved.ts';
import { learn, readEvidence, viewOf, type Evidence } from './records.ts';
import { protocolError } from './refuse.ts';
import type { State } from './state.ts';
import type { Source } from './tasks.ts';

export const isTeam = (h: Pick<Header, 'flags'>): boolean => (h.flags & Flag.TEAM) !== 0;

/** One task's part of a team block. */
interface OfTask {
  readonly source: Source;
  readonly block: Uint8Array;
}

/** Teams of the job: each time all of them. */
export function formTeams(s: State, teams: readonly (readonly TaskId[])[], dissolved: readonly Dissolved[] = []): void {
  s.teams.clear();
  for (const team of teams) for (const task of team) s.teams.set(task, team);
  s.dissolved = dissolved;
}

/**
 * The sections of the team block of a frame of `src`, its own first. Nobody brings determinants of a task outside its
 * team. @throws ProtocolError @throws MalformedDeterminants
 */
function sectionsOf(s: State, src: TaskId, block: Uint8Array, team = s.teams.get(src)): OfTask[] {
  if (!s.policy.teams || !team) throw protocolError('BAD_FRAME', `task ${src} has no team`);
  const sections = decodeTeamBlock(block);
  if (sections[0] && sections[0].task !== src)
    throw protocolError('BAD_FRAME', `the first section of a frame of task ${src} is of task ${sections[0].task}`);
  return sections.map(({ task, block: bytes }) => {
    const source = s.sources[task];
    if (!source || !team.includes(task))
      throw protocolError('BAD_FRAME', `task ${task} is not in the team of task ${src}`);
    return { source, block: bytes };
  });
}

/**
 * The sections of a record, which was checked when it came. Teams may not be known yet.
 * @throws MalformedDeterminants
 */
const recorded = (s: State, block: Uint8Array): OfTask[] =>
  decodeTeamBlock(block).map(({ task, block: bytes }) => {
    const source = s.sources[task];
    if (!source) throw new MalformedDeterminants(`a section of task ${task}, which does not exist`);
    return { source, block: bytes };
  });

/** Logs what is new in the block of a frame of `src`, at `o` of `bytes` (C2: before the message that carries it). */
export function logCarried(s: State, src: TaskId, f: Frame, bytes: Uint8Array, v: DataView, o: number): void {
  if (isTeam(f.header)) logAll(s, sectionsOf(s, src, f.determinants));
  else if (f.header.detBytes > 0) s.policy.carried(s, s.sources[src]!, bytes, v, o, f.header.detBytes);
}

/** What the block of a record shows, and what is lost of it where it was logged beside the record. */
export function recoverSections(s: State, block: Uint8Array): void {
  const sections = recorded(s, block);
  for (const { source, block: b } of sections) learn(source.evidence, shown(b).evidence);
  logAll(s, sections);
}

/**
 * A record of determinants with the sections of its task's teammates, which are looked at when all such records have
 * been read ({@link logBeside}). Returns the block of the task itself. @throws MalformedDeterminants
 */
export function recoverMates(s: State, block: Uint8Array): Uint8Array {
  const sections = recorded(s, block);
  if (sections.length === 0) throw new MalformedDeterminants('a record of a team without sections');
  for (const { source, block: b } of sections) {
    s.inSections.add(source.task);
    learn(source.evidence, shown(b).evidence);
  }
  for (const mate of sections.slice(1)) if (shown(mate.block).entries > 0) s.beside.push(mate);
  return sections[0]!.block;
}

/** All records of determinants have been read: what is lost of a task, and stands beside those of a teammate. */
export function logBeside(s: State): void {
  for (const mate of s.beside.splice(0)) logAll(s, [mate]);
}

/**
 * What each section of a message that a receiver gives back shows of its task's position, and how many entries it has.
 * It may be of an incarnation in a team that was dissolved since.
 */
export function evidenceOf(
  s: State,
  src: TaskId,
  block: Uint8Array,
): { source: Source; evidence: Evidence; entries: number }[] {
  const before = s.dissolved.flatMap((d) => (d.team.includes(src) ? d.team : []));
  const now = s.teams.get(src);
  const team = now || before.length > 0 ? [...(now ?? []), ...before] : undefined;
  return sectionsOf(s, src, block, team).map(({ source, block: b }) => ({ source, ...shown(b) }));
}

function logAll(s: State, sections: readonly OfTask[]): void {
  for (const { source, block: b } of sections) {
    s.inSections.add(source.task);
    const mates = sections.filter((x) => x.source !== source).map((x) => ({ task: x.source.task, block: x.block }));
    s.policy.carried(s, source, b, viewOf(b), 0, b.length, mates);
  }
}

function shown(block: Uint8Array): { evidence: Evidence; entries: number } {
  const evidence = { determinants: 0, openPolls: 0, consumed: 0 };
  const entries = readEvidence(viewOf(block), 0, evidence);
  return { evidence, entries };
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
