/**
 * The preconditioned conjugate gradient method of the paper's Figure 4, with the sparse matrix in compressed rows and
 * its diagonal as the preconditioner, over blocks of rows as processes have them. Real numerics in one thread: sums run
 * in the order of the processes, so the same data give the same bits.
 */

/** A symmetric positive definite matrix in compressed rows. */
export interface Matrix {
  readonly n: number;
  readonly starts: Int32Array;
  readonly columns: Int32Array;
  readonly values: Float64Array;
}

/**
 * The 5-point matrix of −∇(a ∇u) on a strip of `width` × about n / width points, u = 0 at its two ends and no flow over
 * its sides; a lies between 1 and 3 and differs from point to point. The longer the strip, the more iterations.
 */
export function poisson(n: number, width: number): Matrix {
  const starts = new Int32Array(n + 1);
  const columns = new Int32Array(5 * n);
  const values = new Float64Array(5 * n);
  const a = (i: number): number => 2 + Math.sin(i * 0.37) * 0.9;
  let at = 0;
  for (let i = 0; i < n; i++) {
    const x = i % width;
    const around = [i - width, x > 0 ? i - 1 : -1, x < width - 1 && i + 1 < n ? i + 1 : -1, i + width];
    const flows = around.map((j) => (a(i) + a(j)) / 2);
    starts[i] = at;
    let sum = 0;
    for (const [k, j] of around.entries()) if (k === 0 || k === 3 || j >= 0) sum += flows[k]!;
    for (const [k, j] of [around[0]!, around[1]!, i, around[2]!, around[3]!].entries()) {
      if (j < 0 || j >= n) continue;
      columns[at] = j;
      values[at++] = j === i ? sum : -flows[k < 2 ? k : k - 1]!;
    }
  }
  starts[n] = at;
  return { n, starts, columns, values };
}

/** What a process checkpoints: "three vectors … and two scalars (i.e. the iteration index and ρ)" (section 4.2). */
export interface Block {
  readonly x: Float64Array;
  readonly r: Float64Array;
  readonly p: Float64Array;
}

export class Pcg {
  iteration = 0;
  private rho = 0;
  private readonly x: Float64Array;
  private readonly r: Float64Array;
  private readonly p: Float64Array;
  private readonly q: Float64Array;
  private readonly z: Float64Array;
  private readonly diagonal: Float64Array;
  /** First row of each process, and n. */
  private readonly bounds: readonly number[];

  constructor(
    private readonly a: Matrix,
    readonly processes: number,
  ) {
    const { n } = a;
    [this.x, this.r, this.p, this.q, this.z] = Array.from({ length: 5 }, () => new Float64Array(n)) as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    // b = 1, x = 0: r = b.
    this.r.fill(1);
    this.diagonal = new Float64Array(n);
    for (let i = 0; i < n; i++)
      for (let k = a.starts[i]!; k < a.starts[i + 1]!; k++) if (a.columns[k] === i) this.diagonal[i] = a.values[k]!;
    this.bounds = Array.from({ length: processes + 1 }, (_, i) => Math.floor((i * n) / processes));
  }

  private dot(a: Float64Array, b: Float64Array): number {
    let sum = 0;
    for (let process = 0; process < this.processes; process++) {
      let part = 0;
      for (let i = this.bounds[process]!; i < this.bounds[process + 1]!; i++) part += a[i]! * b[i]!;
      sum += part;
    }
    return sum;
  }

  private apply(from: Float64Array, to: Float64Array): void {
    const { n, starts, columns, values } = this.a;
    for (let i = 0; i < n; i++) {
      let sum = 0;
      const end = starts[i + 1]!;
      for (let k = starts[i]!; k < end; k++) sum += values[k]! * from[columns[k]!]!;
      to[i] = sum;
    }
  }

  step(): void {
    const { x, r, p, q, z, diagonal } = this;
    const { n } = this.a;
    for (let i = 0; i < n; i++) z[i] = r[i]! / diagonal[i]!;
    const rho = this.dot(r, z);
    const beta = this.iteration === 0 ? 0 : rho / this.rho;
    for (let i = 0; i < n; i++) p[i] = z[i]! + beta * p[i]!;
    this.apply(p, q);
    const alpha = rho / this.dot(p, q);
    for (let i = 0; i < n; i++) {
      x[i] = x[i]! + alpha * p[i]!;
      r[i] = r[i]! - alpha * q[i]!;
    }
    this.rho = rho;
    this.iteration++;
  }

  /** Steps up to that iteration. */
  until(iteration: number): void {
    while (this.iteration < iteration) this.step();
  }

  /** ‖b − A x‖, computed from x. */
  residual(): number {
    this.apply(this.x, this.z);
    let sum = 0;
    for (const ax of this.z) sum += (1 - ax) ** 2;
    return Math.sqrt(sum);
  }

  /** The checkpoints of all processes, as numbers: x, r, p, iteration, ρ. All have the length of the longest. */
  checkpoint(): Float64Array[] {
    const longest = Math.max(...this.bounds.slice(1).map((b, i) => b - this.bounds[i]!));
    return Array.from({ length: this.processes }, (_, process) => {
      const [from, to] = [this.bounds[process]!, this.bounds[process + 1]!];
      const out = new Float64Array(3 * longest + 2);
      [this.x, this.r, this.p].forEach((v, k) => out.set(v.subarray(from, to), k * longest));
      out.set([this.iteration, this.rho], 3 * longest);
      return out;
    });
  }

  /** Back to checkpoints; survivors' scalars decide, as every process has them. */
  restore(checkpoints: readonly Float64Array[], survivor: number): void {
    const longest = (checkpoints[0]!.length - 2) / 3;
    for (const [process, numbers] of checkpoints.entries()) {
      const [from, to] = [this.bounds[process]!, this.bounds[process + 1]!];
      [this.x, this.r, this.p].forEach((v, k) => v.set(numbers.subarray(k * longest, k * longest + to - from), from));
    }
    [this.iteration, this.rho] = checkpoints[survivor]!.slice(3 * longest) as unknown as [number, number];
  }

  /** The bits of the solution. */
  solution(): Float64Array {
    return this.x.slice();
  }
}
