/**
 * The team block: what goes with a frame that leaves a team (rule T5). It stands where the determinant block of a task
 * alone stands, and {@link Flag.TEAM} says so.
 *
 * One section for each member, the sender's first: u32 task, u32 length of the block (a multiple of 8), and the block
 * as determinants.ts has it. A section whose block has no entries is a *head*: the evidence of its task alone.
 */
import { BLOCK_HEAD_BYTES, MalformedDeterminants } from './determinants.ts';
import type { TaskId } from './ids.ts';
import { getU53, setU53 } from './u53.ts';

const SECTION_HEAD_BYTES = 8;

/** A member's determinants that no Channel Memory has acknowledged, and its evidence. */
export interface TeamSection {
  readonly task: TaskId;
  /** Encoded; a view when it was read. */
  readonly block: Uint8Array;
}

export function encodeTeamBlock(sections: readonly TeamSection[]): Uint8Array {
  const out = new Uint8Array(sections.reduce((sum, { block }) => sum + SECTION_HEAD_BYTES + block.length, 0));
  const v = new DataView(out.buffer);
  let o = 0;
  for (const { task, block } of sections) {
    v.setUint32(o, task, true);
    v.setUint32(o + 4, block.length, true);
    out.set(block, o + SECTION_HEAD_BYTES);
    o += SECTION_HEAD_BYTES + block.length;
  }
  return out;
}

/** Checks the sections and not what their blocks hold. @throws MalformedDeterminants */
export function decodeTeamBlock(bytes: Uint8Array): TeamSection[] {
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sections: TeamSection[] = [];
  const seen = new Set<number>();
  for (let o = 0; o < bytes.length;) {
    if (bytes.length - o < SECTION_HEAD_BYTES) throw new MalformedDeterminants('shorter than the head of a section');
    const task = v.getUint32(o, true) as TaskId;
    const length = v.getUint32(o + 4, true);
    o += SECTION_HEAD_BYTES;
    if (length < BLOCK_HEAD_BYTES || length % 8 !== 0)
      throw new MalformedDeterminants(`a section of ${length} bytes holds no whole block`);
    if (length > bytes.length - o) throw new MalformedDeterminants('section runs over the end');
    if (seen.has(task)) throw new MalformedDeterminants(`two sections of task ${task}`);
    seen.add(task);
    sections.push({ task, block: bytes.subarray(o, o + length) });
    o += length;
  }
  return sections;
}

/**
 * Only the heads, as a receiver keeps them (T14): the evidence of every member, its position moved behind its entries.
 */
export function teamHeads(sections: readonly TeamSection[]): Uint8Array {
  return encodeTeamBlock(sections.map(({ task, block }) => ({ task, block: headOf(block) })));
}

function headOf(block: Uint8Array): Uint8Array {
  const head = block.slice(0, BLOCK_HEAD_BYTES);
  const v = new DataView(head.buffer);
  setU53(v, 0, getU53(v, 0) + v.getUint32(20, true));
  v.setUint32(20, 0, true);
  return head;
}
