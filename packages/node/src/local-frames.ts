/**
 * Records of the rings that never leave a node (kinds ≥ FIRST_LOCAL_KIND), in the frame layout of the wire.
 *
 *  IMAGE (up):    a checkpoint. First a part with `word` = HEAD whose body is JSON {@link ImageHead}, then the
 *                 sections' bytes one after the other, cut into parts of at most CHUNK_BYTES; LAST on the final part.
 *                 Everything that the rank sent before lies before it in the ring, so the image cannot overtake what it
 *                 depends on. A section that is `shared` does not follow: it lies in the rank's image buffer
 *                 (messages.ts) from its start on, and belongs to the comm worker until it sends imageDone.
 *  READ (up):     body: path of an input file (UTF-8). The rank blocks.
 *  CONTENT (down): its bytes in parts: `offset`, `size`, LAST; `mode` 1: body is an error message instead.
 *  NOTE (up):     body: a sentence for the node's own log (never part of the program's output).
 *
 * Of a team with a log (team-log.ts):
 *  IMAGE (up):    with `closes`: the channel state of the image of that wave, as one more section.
 *  DECLINED (up): the rank takes no image of wave `word`.
 *  WISH (up):     a script wants an image of its team soon. `mode` 1: at its call `word` of checkpoint.here, at which
 *                 it waits.
 *  ENDED (up):    the program has ended, and its EXIT was sent by an incarnation before.
 *  MARKER (ring to a teammate): behind everything sent before the image of wave `word`.
 *  REPORT (ring of reports): number `channel`; body: a block of determinants.
 */
import type { Report } from '@mayfly/protocols';
import {
  blockBytes,
  FIRST_LOCAL_KIND,
  getU53,
  HEADER_BYTES,
  readDeterminants,
  setU53,
  writeDeterminants,
  type Position,
} from '@mayfly/wire';

export const Local = {
  IMAGE: FIRST_LOCAL_KIND,
  READ: FIRST_LOCAL_KIND + 1,
  CONTENT: FIRST_LOCAL_KIND + 2,
  NOTE: FIRST_LOCAL_KIND + 3,
  DECLINED: FIRST_LOCAL_KIND + 4,
  ENDED: FIRST_LOCAL_KIND + 5,
  MARKER: FIRST_LOCAL_KIND + 6,
  REPORT: FIRST_LOCAL_KIND + 7,
  WISH: FIRST_LOCAL_KIND + 8,
} as const;
export const HEAD = 1;
/** The section of an image that holds the state of its channels from teammates. */
export const CHANNELS = 'channels';
/** …that holds what a script received of teammates before checkpoint.open. */
export const PROLOGUE = 'prologue';

export interface ImageHead {
  serial: number;
  position: Position;
  /** Of its team, for which the image was taken. */
  wave?: number;
  /** This is not an image: it completes that of the wave. */
  closes?: true;
  sections: { name: string; bytes: number; shared?: boolean }[];
}

/** Where the numbers of a REPORT stand in its header. The rest of it is not looked at, and not written. */
const AT = { kind: 0, bytes: 4, stamp: 24, detBytes: 60 } as const;

export const reportBytes = ({ block }: Report): number => HEADER_BYTES + blockBytes(block.entries);

export function writeReport(v: DataView, o: number, { stamp, block }: Report): void {
  v.setUint8(o + AT.kind, Local.REPORT);
  v.setUint32(o + AT.bytes, blockBytes(block.entries), true);
  setU53(v, o + AT.stamp, stamp);
  v.setUint32(o + AT.detBytes, 0, true);
  writeDeterminants(v, o + HEADER_BYTES, block);
}

/** Of a record of `length` bytes; the number of the report modulo 2³². @throws Error when it is none */
export function readReport(v: DataView, o: number, length: number): Report {
  const kind = v.getUint8(o + AT.kind);
  if (kind !== Local.REPORT || v.getUint32(o + AT.detBytes, true) > 0)
    throw new Error(`a record of kind ${kind} among the reports`);
  const bytes = Math.min(v.getUint32(o + AT.bytes, true), length - HEADER_BYTES);
  return { stamp: getU53(v, o + AT.stamp), block: readDeterminants(v, o + HEADER_BYTES, bytes) };
}
