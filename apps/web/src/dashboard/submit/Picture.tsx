/**
 * A small drawing of what an example computes, by the subject in its name. Decoration: the title beside it says the
 * same.
 */
import type { ReactNode } from 'react';

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
/** The same drawing each time: multiples of an irrational number, mixed, in [0, 1). */
function noise(i: number): number {
  const x = Math.sin(i * 12.9898) * 43758.5453;
  return x - Math.floor(x);
}

const line = (d: string, more: object = {}): ReactNode => (
  <path d={d} fill="none" stroke="currentColor" strokeWidth="1.5" {...more} />
);
const dot = (x: number, y: number, r: number, opacity = 1): ReactNode => (
  <circle key={`${x} ${y} ${r}`} cx={x} cy={y} r={r} fill="currentColor" opacity={opacity} />
);
const cell = (x: number, y: number, side: number, opacity: number): ReactNode => (
  <rect key={`${x} ${y}`} x={x} y={y} width={side} height={side} fill="currentColor" opacity={opacity} />
);

/** Rings of 1 / distance around a few points: heat that spreads. */
const heat = range(12 * 6).map((i) => {
  const [x, y] = [i % 12, Math.floor(i / 12)];
  return cell(
    x * 8,
    y * 8,
    7.4,
    Math.min(1, 0.08 + 1.4 / (1 + (x - 3) ** 2 + (y - 2) ** 2) + 0.9 / (1 + (x - 9) ** 2 + (y - 4) ** 2)),
  );
});
/** A banded sparse matrix. */
const sparse = range(12 * 12).flatMap((i) => {
  const [r, c] = [Math.floor(i / 12), i % 12];
  const d = Math.abs(r - c);
  return d <= 1 || d === 4 ? [cell(26 + c * 4, r * 4, 3.3, d === 0 ? 1 : 0.55)] : [];
});
const pi = (
  <>
    {range(14).map((i) => {
      const x = (i + 0.5) / 14;
      const h = 40 / (1 + x * x);
      return <rect key={i} x={6 + i * 6} y={46 - h} width="5.2" height={h} fill="currentColor" opacity="0.35" />;
    })}
    {line(
      `M6 6${range(28)
        .map((i) => `L${6 + ((i + 1) / 28) * 84} ${46 - 40 / (1 + ((i + 1) / 28) ** 2)}`)
        .join('')}`,
    )}
  </>
);
const ring = range(8).map((i) => {
  const a = (i / 8) * 2 * Math.PI;
  return dot(48 + 18 * Math.cos(a), 24 + 18 * Math.sin(a), i === 6 ? 4.5 : 3, i === 6 ? 1 : 0.45);
});
const bars = range(16).map((i) => {
  const h = 4 + (i < 8 ? (40 * ((i * 5) % 8)) / 8 : (40 * (i - 8)) / 8);
  return (
    <rect key={i} x={4 + i * 5.6} y={46 - h} width="4" height={h} fill="currentColor" opacity={i < 8 ? 0.35 : 0.9} />
  );
});
const bodies = range(26).map((i) =>
  dot(10 + 76 * noise(i + 1), 5 + 38 * noise(i + 50), 0.8 + 2.4 * noise(i + 90), 0.35 + 0.6 * noise(i + 7)),
);
/** Points of a normal distribution in the plane. */
const cloud = range(90).map((i) => {
  const r = Math.sqrt(-2 * Math.log(noise(i + 1) || 0.5)) * 7.5;
  const a = 2 * Math.PI * noise(i + 200);
  return dot(48 + 1.6 * r * Math.cos(a), 24 + r * Math.sin(a), 0.9, 0.7);
});
const spheres = (
  <>
    {line('M2 40H94', { opacity: 0.4 })}
    {[
      [30, 28, 13, 0.9],
      [56, 33, 8, 0.55],
      [74, 26, 11, 0.7],
    ].map(([x, y, r, o]) => dot(x!, y!, r!, o))}
    {[
      [26, 23, 3],
      [54, 30, 2],
      [70, 22, 2.6],
    ].map(([x, y, r]) => (
      <circle key={x} cx={x} cy={y} r={r} fill="var(--surface)" opacity="0.7" />
    ))}
  </>
);
const mandelbrot = (
  <>
    {dot(28, 24, 9, 0.9)}
    {dot(17, 24, 3, 0.9)}
    <path d="M36 24C36 8 66 4 68 16C69 21 62 24 60 24C62 24 69 27 68 32C66 44 36 40 36 24Z" fill="currentColor" />
    {dot(52, 6, 3.4, 0.9)}
    {dot(52, 42, 3.4, 0.9)}
  </>
);
/** Grids, each of half the width: multigrid. */
const grids = [0, 1, 2].map((level) => {
  const [n, x] = [8 >> level, [4, 44, 72][level]!];
  const side = [36, 24, 16][level]!;
  return (
    <g key={level}>
      {line(
        range(n + 1)
          .map((i) => `M${x} ${6 + (i * side) / n}h${side}M${x + (i * side) / n} 6v${side}`)
          .join(''),
        { strokeWidth: 0.8 },
      )}
    </g>
  );
});
/** A tridiagonal matrix of blocks. */
const blocks = range(36).flatMap((i) => {
  const [r, c] = [Math.floor(i / 6), i % 6];
  return Math.abs(r - c) <= 1 ? [cell(25 + c * 8, r * 8, 7, r === c ? 0.9 : 0.4)] : [];
});

const SUBJECTS: readonly (readonly [RegExp, ReactNode])[] = [
  [/heat/, heat],
  [/nbody/, bodies],
  [/nas-bt/, blocks],
  [/nas-ep/, cloud],
  [/nas-mg/, grids],
  [/cg$/, sparse],
  [/ray/, spheres],
  [/mandelbrot/, mandelbrot],
  [/ring/, ring],
  [/sort|nas-is/, bars],
  [/pi$/, pi],
];

export function Picture({ name }: { name: string }) {
  const drawing = SUBJECTS.find(([subject]) => subject.test(name))?.[1];
  return (
    <svg className="example-picture" viewBox="0 0 96 48" aria-hidden="true">
      {drawing}
    </svg>
  );
}
