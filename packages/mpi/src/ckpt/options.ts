/** Options of operation-level checkpoints: what is wrong with them, and what they mean on so many nodes. */
import type { Codes } from './codes.ts';
import { checksumsOf, holdersOf, partnerOf, type Held } from './plan.ts';
import type { Settings } from './state.ts';

export const Algorithm = {
  IMEM_M_REP: 1,
  STABLE_DISK: 2,
  PAIR: 3,
  CHECKSUM: 4,
  WEIGHTED: 5,
  WEIGHTED_REAL: 6,
} as const;
export const NO_CHECK = 1;
/** Of the flags, the members of a group. */
export const GROUP_SHIFT = 8;
/** Where the options name no size of groups; as for the parity of images. */
const GROUP = 8;

const coded = (algorithm: number): boolean => algorithm >= Algorithm.CHECKSUM;
export const groupOf = (flags: number): number => flags >> GROUP_SHIFT;

/** What is wrong with options on any nodes: an error's text. @param processes of the communicator */
export function wrongIn({ algorithm, nof, ratio, memory, flags }: Settings, processes: number): string | undefined {
  const group = groupOf(flags);
  if (algorithm < 0 || algorithm > Algorithm.WEIGHTED_REAL)
    return `algorithm ${algorithm} is not an MPI_CKPT_… algorithm`;
  if (nof < 0 || (nof > 0 && nof >= processes))
    return `nof ${nof}: of ${processes} processes 0 to ${processes - 1} may be lost`;
  if (nof > 1 && algorithm === Algorithm.PAIR) return `nof ${nof}: MPI_CKPT_PAIR makes one copy`;
  if (nof > 1 && algorithm === Algorithm.CHECKSUM)
    return `nof ${nof}: MPI_CKPT_CHECKSUM makes one checksum, MPI_CKPT_WEIGHTED more`;
  if (ratio < 0) return `ratio ${ratio} is negative`;
  if (memory < 0) return `memory ${memory} is negative`;
  if ((flags & ((1 << GROUP_SHIFT) - 1) & ~NO_CHECK) !== 0 || flags < 0)
    return `flags ${flags}: only MPI_CKPT_NO_CHECK and MPI_CKPT_GROUP are flags`;
  if (group > 0 && !coded(algorithm)) return `a group of ${group}: only checksums have groups`;
  if (group === 1) return 'a group of 1: a checksum needs two members or more';
  const needed = group + Math.max(nof, 1);
  if (group > 0 && needed > processes)
    return `a group of ${group} with ${needed - group} checksums needs ${needed} nodes, and there are ${processes} processes`;
  return undefined;
}

/** How the data of processes on these nodes are kept in memory. @param bad the options do not suit the nodes */
export function protection(
  nodes: readonly string[],
  { algorithm, nof, flags }: Settings,
  codes: Codes | undefined,
  bad: (why: string) => never,
): { m: number; holders: typeof holdersOf; sums: Held[] } {
  const { STABLE_DISK, PAIR, WEIGHTED_REAL } = Algorithm;
  const most = new Set(nodes).size - 1;
  if (nof > most) bad(`nof ${nof}: of ${most + 1} nodes at most ${most} may be lost`);
  const c = nof || Math.min(1, most);
  if (algorithm === STABLE_DISK) return { m: 0, holders: holdersOf, sums: [] };
  if (algorithm === PAIR && most % 2 === 0)
    bad(`MPI_CKPT_PAIR needs an even number of nodes, and there are ${most + 1}`);
  if (!coded(algorithm)) return { m: c, holders: algorithm === PAIR ? partnerOf : holdersOf, sums: [] };
  if (!codes) return bad('this node has no codes');
  const group = groupOf(flags);
  if (group + c > most + 1)
    bad(`a group of ${group} with ${c} checksums needs ${group + c} nodes, and there are ${most + 1}`);
  const code = algorithm === WEIGHTED_REAL ? 'real' : 'exact';
  return { m: 0, holders: holdersOf, sums: c === 0 ? [] : checksumsOf(nodes, code, c, group || GROUP, codes) };
}
