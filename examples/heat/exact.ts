/**
 * The plate has an exact answer, because sines are eigenvectors of the Jacobi step. On the grid of (n + 2)² points with
 * spacing h = 1 / (n + 1):
 *
 *   steady state   s(i, j) = sin(π j h) · sinh(μ (n + 1 − i)) / sinh(μ (n + 1)),  cosh μ = 2 − cos π h   (0 on three
 *   sides, hot on top)
 *   disturbance    d(i, j) = sin(p π i h) · sin(q π j h)  shrinks in every step by  (cos p π h + cos q π h) / 2
 */
interface Mode {
  readonly amplitude: number;
  readonly p: number;
  readonly q: number;
}

const MODES: readonly Mode[] = [
  { amplitude: 0.35, p: 2, q: 3 },
  { amplitude: 0.3, p: 5, q: 4 },
  { amplitude: -0.25, p: 3, q: 7 },
  { amplitude: 0.2, p: 9, q: 8 },
];

/** Temperature at row i, column j (0 … n + 1) of a plate of n × n inner points after `steps` Jacobi steps. */
export function temperature(n: number, steps: number): (i: number, j: number) => number {
  const h = 1 / (n + 1);
  const mu = Math.acosh(2 - Math.cos(Math.PI * h));
  const modes = MODES.map(({ amplitude, p, q }) => ({
    p,
    q,
    weight: amplitude * ((Math.cos(p * Math.PI * h) + Math.cos(q * Math.PI * h)) / 2) ** steps,
  }));
  return (i, j) => {
    let t = (Math.sin(Math.PI * j * h) * Math.sinh(mu * (n + 1 - i))) / Math.sinh(mu * (n + 1));
    for (const { p, q, weight } of modes) t += weight * Math.sin(p * Math.PI * i * h) * Math.sin(q * Math.PI * j * h);
    return t;
  };
}
