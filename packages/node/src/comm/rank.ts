/** What the comm worker knows of one rank, and the manifest of an image that it took. */
import type { CutImage } from '@mayfly/checkpoint';
import { readSection } from '@mayfly/libmpi';
import { isWhole, protocols, type ImageCost, type EndpointStart } from '@mayfly/protocols';
import { IMAGE_FORMAT, imageIdOf, type Assignment, type Manifest, type ProgramKind, type TaskId } from '@mayfly/wire';
import type { ImageHead } from '../local-frames.ts';
import type { RankRun, RankToComm } from '../messages.ts';
import type { TeamOf } from '../rank/teammates.ts';
import type { Channel } from '../thread-ports.ts';
import type { LoggedTeam } from './logged-team.ts';
import { MAX_IMAGE_BYTES, type RankLink } from './rank-link.ts';

export interface Rank {
  id: number;
  assignment: Assignment;
  clockOffset: number;
  /** What the program learns about where it runs. */
  place: string;
  /** Kinds of programs that this node runs. */
  runs: readonly ProgramKind[];
  link: RankLink;
  /** Absent: it has no teammates. */
  team?: TeamOf;
  /** Absent: it has no team, or the team has no log. */
  log?: LoggedTeam;
  port: Channel<RankRun, RankToComm>;
  start: EndpointStart | undefined;
  program: string | WebAssembly.Module | undefined;
  /** Serial of the image that it handed over last. */
  serial: number;
  /** Since when an image of it is on its way, and what one costs; absent: none is, or was. */
  imageSince?: number | undefined;
  imageCost?: ImageCost;
  image: Map<string, Uint8Array<ArrayBuffer>> | undefined;
  imageReady: boolean;
  /** An image that it has handed over, until the core has named its place. */
  handed: { head: ImageHead; sections: Map<string, Uint8Array> } | undefined;
  running: boolean;
  reported: { started: boolean; recovered: boolean; ended: boolean };
  /** Page hashes that the local store has from this incarnation. */
  kept: Set<string>;
  /** Of a job with parity: images that stayed with the nodes since the last whole one; the next one has to be whole. */
  sinceWhole: number;
  wholeNext: boolean;
  /** How often it answered at once when it was woken, lately: 0 to 1; and how often it was not waited for. */
  prompt: number;
  passed: number;
}

/**
 * Address space for a copy of the rank's memory; pages of it are taken when they are first written to. undefined: this
 * engine cannot.
 */
export function imageBufferFor(module: WebAssembly.Module, a: Assignment): SharedArrayBuffer | undefined {
  if (!('grow' in SharedArrayBuffer.prototype)) return undefined;
  try {
    return new SharedArrayBuffer(0, {
      maxByteLength: Math.min(readSection(module).maximum * 65536, a.limits.memoryBytes, MAX_IMAGE_BYTES),
    });
  } catch {
    // No such section (the rank reports that itself), or no room: the image goes through the ring.
    return undefined;
  }
}

/** What moves to the rank's thread instead of being copied. */
export const buffersOf = (image: Rank['image']): ArrayBuffer[] => [
  ...new Set([...(image?.values() ?? [])].map((section) => section.buffer)),
];

export const manifestOf = (a: Assignment, head: ImageHead, cut: CutImage): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(a.job, a.task, a.incarnation, head.serial),
  job: a.job,
  task: a.task,
  incarnation: a.incarnation,
  program: a.program.hash,
  serial: head.serial,
  position: head.position,
  sections: cut.sections,
  pages: cut.pages,
  bytes: cut.bytes,
});

/** The pages of this image stay with the nodes, if parity protects them. Under waves, the wave's number decides. */
export function staysNear(rank: Rank, { position }: Pick<Manifest, 'position'>, wholeEvery: number): boolean {
  const wave = protocols[position.protocol].images.waveOf?.(position);
  if (wave !== undefined) return !isWhole(wave, wholeEvery);
  return !rank.wholeNext && rank.sinceWhole + 1 < wholeEvery;
}

/** Tasks whose images are of one set with this one (T6); of a lone task, itself. */
export function setWith({ assignment: { task, team } }: Rank, { position }: Pick<Manifest, 'position'>): TaskId[] {
  const set = protocols[position.protocol].images.setOf?.(position);
  return set && team ? team.filter((t) => !set.done.includes(t)) : [task];
}
