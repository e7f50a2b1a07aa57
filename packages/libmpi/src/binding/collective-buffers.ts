/**
 * What collectives do with the buffers of a program: where each block lies, which ranks have one, what has to be packed
 * first. The layer moves contiguous bytes: elements that lie otherwise are packed before and spread when the request is
 * complete.
 */
import { ERR, ROOT, linear, part, type Buf, type CommRecord, type collectives, type types } from '@mayfly/mpi';
import { IN_PLACE, type Bundle, type Core } from './core.ts';

type TypeRecord = types.TypeRecord;
/** Contiguous wherever several of them lie. */
const plain = (t: TypeRecord): boolean => {
  const s = t.layout.segments;
  return s.length === 0 || (s.length === 4 && s[2] === 1 && s[0] === 0 && t.layout.extent === t.layout.size);
};

export const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

export const inPlace = (address: number): boolean => address >>> 0 === IN_PLACE;
/** Has the blocks of all in a rooted collective. */
export const isRoot = (c: CommRecord, root: number): boolean => (c.remote ? root === ROOT : c.rank === root);
/**
 * Has a block of its own: of an intercommunicator only the other group than the root's. All other arguments of a
 * process that has neither are ignored.
 */
export const hasOwn = (c: CommRecord, root: number): boolean => !c.remote || root >= 0;
/** Ranks that blocks are for or of: of an intercommunicator the other group's. */
export const size = (c: CommRecord): number => (c.remote ?? c.group).length;

/** The own block is where its argument says. */
export const own = (c: CommRecord, root: number, address: number): boolean => hasOwn(c, root) && !inPlace(address);

export interface CollectiveBuffers {
  /** Refuses to send from where is received. @throws MPIError ERR_BUFFER */
  apart(send: number, recv: number, count: number, comm: number): void;
  /** The same, for the own block of a list. */
  ownApart(c: CommRecord, own: number, list: number, counts: number, displs: number, datatype: number): void;
  /** A list of blocks at a rank that has them all: where each lies. */
  vector(
    bundle: Bundle,
    address: number,
    counts: readonly number[],
    displs: readonly number[],
    t: TypeRecord,
    c: CommRecord,
    what: string,
    receives: boolean,
  ): collectives.VectorArgument;
  /** The counts of all blocks. */
  all(address: number, n: number, c: CommRecord): number[];
  displsOf(address: number, n: number): number[];
  /** One block per rank, equally long, behind one another at the type's extent. `holds`: they are sent, too. */
  several(
    b: Bundle,
    address: number,
    count: number,
    datatype: number,
    c: CommRecord,
    what: string,
    holds: boolean,
  ): Buf;
  sent(b: Bundle, address: number, count: number, datatype: number, c: CommRecord): Buf;
}

export function collectiveBuffers(core: Core): CollectiveBuffers {
  const { heap } = core;
  /**
   * "An argument of type OUT or type INOUT cannot be aliased with any other argument" (§2.3). Null is an address too:
   * of MPI_BOTTOM.
   */
  const apart = (send: number, recv: number, count: number, comm: number): void => {
    if (count > 0 && send >>> 0 > IN_PLACE && send >>> 0 === recv >>> 0)
      core.fail(
        ERR.BUFFER,
        'data would be sent from and received at the same address: MPI_IN_PLACE says so where it is allowed',
        comm,
      );
  };

  function vector(
    bundle: Bundle,
    address: number,
    counts: readonly number[],
    displs: readonly number[],
    t: TypeRecord,
    c: CommRecord,
    what: string,
    receives: boolean,
  ): collectives.VectorArgument {
    counts.forEach((n) => core.count(n, c.handle, 'a count'));
    const { layout } = t;
    const total = sum(counts);
    const least = counts.reduce((low, n, i) => (n > 0 ? Math.min(low, displs[i]!) : low), Infinity);
    if (total === 0) return { buf: linear(0, 0), unit: 1, counts: counts.map(() => 0), displs: undefined };
    if (plain(t)) {
      // Displacements may be negative: the buffer begins at the lowest block.
      const end = counts.reduce((high, n, i) => (n > 0 ? Math.max(high, displs[i]! + n) : high), -Infinity);
      const buf = core.outgoing(bundle, (address >>> 0) + least * layout.extent, end - least, t, c.handle, what);
      return { buf, unit: layout.size, counts, displs: displs.map((d, i) => (counts[i]! > 0 ? d - least : 0)) };
    }
    const whole = core.room(bundle, total * layout.size);
    let at = 0;
    counts.forEach((n, i) => {
      const block = (address >>> 0) + displs[i]! * layout.extent;
      const room = part(whole, at, n * layout.size);
      at += n * layout.size;
      core.checkPlace(block, n, t, c.handle, what);
      // Also what is received: in place it holds what is sent.
      core.packInto(layout, n, block, room);
      if (receives) bundle.unpack.push({ layout, count: n, from: room, address: block });
    });
    return { buf: whole, unit: layout.size, counts, displs: undefined };
  }
  const all = (address: number, n: number, c: CommRecord): number[] =>
    heap.counts(address, n, 'counts').map((x) => core.count(x, c.handle, 'a count'));
  const displsOf = (address: number, n: number): number[] => heap.ints(address, n, 'displs');

  const ownApart = (
    c: CommRecord,
    own: number,
    list: number,
    counts: number,
    displs: number,
    datatype: number,
  ): void => {
    const n = size(c);
    apart(
      own,
      list + displsOf(displs, n)[c.rank]! * core.type(datatype).layout.extent,
      all(counts, n, c)[c.rank]!,
      c.handle,
    );
  };

  function several(
    b: Bundle,
    address: number,
    count: number,
    datatype: number,
    c: CommRecord,
    what: string,
    holds: boolean,
  ): Buf {
    const t = core.committed(datatype, c.handle);
    const n = count * size(c);
    return holds ? core.both(b, address, n, t, c.handle, what) : core.incoming(b, address, n, t, c.handle, what);
  }
  function sent(b: Bundle, address: number, count: number, datatype: number, c: CommRecord): Buf {
    return core.outgoing(b, address, count, core.committed(datatype, c.handle), c.handle);
  }

  return { apart, ownApart, vector, all, displsOf, several, sent };
}
