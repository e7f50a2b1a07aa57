/**
 * A sparse matrix whose rows are shared out in blocks, and its product with a vector that is shared out in the same
 * way.
 *
 * A rank's rows reach for entries of the vector that lie on other ranks. Which ones is fixed, so it is agreed on once:
 * every rank tells every other which of its entries it needs. A product then is: send what the others need, receive
 * what this rank needs (the "halo"), multiply.
 */
import { type Comm, type Request, waitall } from 'mayfly';
import { partition, type Csr } from './matrix.ts';

const HALO = 7;

export class DistributedMatrix {
  readonly n: number;
  /** First row of every rank's block, and n. */
  readonly bounds: number[];
  /** This rank's first row, and how many it has. */
  readonly first: number;
  readonly rows: number;
  readonly diagonal: Float64Array<ArrayBuffer>;
  /** Entries of the vector that come from other ranks. */
  readonly haloSize: number;

  readonly #comm: Comm;
  /** This rank's rows; columns below `rows` are its own entries, the others its halo. */
  readonly #rowStart: Int32Array;
  readonly #column: Int32Array;
  readonly #value: Float64Array;
  /** The vector as the rows see it: own entries, then the halo by owner. */
  readonly #x: Float64Array<ArrayBuffer>;
  /** To whom which own entries go, and from whom how many come. */
  readonly #sends: { to: number; entries: Int32Array; buffer: Float64Array<ArrayBuffer> }[] = [];
  readonly #receives: { from: number; buffer: Float64Array<ArrayBuffer> }[] = [];

  /** Collective. Every rank passes the same whole matrix and keeps its rows. */
  constructor(comm: Comm, a: Csr) {
    this.#comm = comm;
    this.n = a.n;
    this.bounds = partition(a, comm.size);
    const first = (this.first = this.bounds[comm.rank]!);
    const last = this.bounds[comm.rank + 1]!;
    const rows = (this.rows = last - first);

    const from = a.rowStart[first]!;
    const to = a.rowStart[last]!;
    const needed = [...new Set(a.column.subarray(from, to))]
      .filter((j) => j < first || j >= last)
      .sort((i, j) => i - j);
    const place = new Map(needed.map((j, k) => [j, rows + k]));
    this.haloSize = needed.length;
    this.#x = new Float64Array(rows + needed.length);
    this.#rowStart = a.rowStart.slice(first, last + 1).map((k) => k - from);
    this.#column = a.column.slice(from, to).map((j) => place.get(j) ?? j - first);
    this.#value = a.value.slice(from, to);
    this.diagonal = new Float64Array(rows);
    for (let i = 0; i < rows; i++)
      for (let k = this.#rowStart[i]!; k < this.#rowStart[i + 1]!; k++)
        if (this.#column[k] === i) this.diagonal[i] = this.#value[k]!;

    // Ascending columns are grouped by owner already, since the blocks are ascending.
    const wanted = Array.from({ length: comm.size }, (_, owner) =>
      Int32Array.from(needed.filter((j) => j >= this.bounds[owner]! && j < this.bounds[owner + 1]!)),
    );
    let at = rows;
    for (const [owner, columns] of wanted.entries()) {
      if (columns.length > 0) this.#receives.push({ from: owner, buffer: this.#x.subarray(at, at + columns.length) });
      at += columns.length;
    }
    for (const [to, columns] of comm.alltoallObject(wanted).entries())
      if (columns.length > 0)
        this.#sends.push({ to, entries: columns.map((j) => j - first), buffer: new Float64Array(columns.length) });
  }

  /** y ← A x, for this rank's entries of both. Collective among neighbours. */
  multiply(x: Float64Array, y: Float64Array): void {
    this.#x.set(x);
    const requests: Request[] = this.#receives.map(({ from, buffer }) => this.#comm.irecv(buffer, from, HALO));
    for (const { to, entries, buffer } of this.#sends) {
      for (let k = 0; k < entries.length; k++) buffer[k] = x[entries[k]!]!;
      requests.push(this.#comm.isend(buffer, to, HALO));
    }
    waitall(requests);
    for (let i = 0; i < this.rows; i++) {
      let sum = 0;
      for (let k = this.#rowStart[i]!, end = this.#rowStart[i + 1]!; k < end; k++)
        sum += this.#value[k]! * this.#x[this.#column[k]!]!;
      y[i] = sum;
    }
  }
}
