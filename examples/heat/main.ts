/**
 * Heat on a square plate: Jacobi's iteration for Laplace's equation on a grid of ranks. Every rank owns a block of the
 * plate with a border of one point around it, and exchanges its border with its four neighbours in every step.
 *
 *   --points 254      inner points along a side
 *   --steps 2000      Jacobi steps
 *   --pictures 10     how often heat.png is written on the way
 */
import { COMM_WORLD, MAX, SUM, args, checkpoint, dimsCreate, exit, files, waitall, type Request } from 'mayfly';
import { temperature } from './exact.ts';
import { Png } from './png.ts';
import { thermal } from './palette.ts';

const option = (name: string, otherwise: number): number => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(args[at + 1]);
};
const n = option('points', 254);
const steps = option('steps', 2000);
const pictures = option('pictures', 10);

// ── The grid of ranks, and this rank's block of the plate ──

const grid = COMM_WORLD.createCart(dimsCreate(COMM_WORLD.size, 2))!;
const [across, along] = [grid.shift(0), grid.shift(1)];
const north = across.source;
const south = across.dest;
const west = along.source;
const east = along.dest;

/** First inner point (from 1) of part k when the n inner points are cut into `parts`. */
const firstOf = (k: number, parts: number): number => 1 + Math.floor((k * n) / parts);

interface Block {
  readonly top: number;
  readonly left: number;
  readonly rows: number;
  readonly columns: number;
}
function blockOf(rank: number): Block {
  const [i, j] = grid.coordsOf(rank) as [number, number];
  const [parts, partsAlong] = grid.dims as [number, number];
  const [top, left] = [firstOf(i, parts), firstOf(j, partsAlong)];
  return { top, left, rows: firstOf(i + 1, parts) - top, columns: firstOf(j + 1, partsAlong) - left };
}
const { top, left, rows, columns } = blockOf(grid.rank);
const stride = columns + 2;

/** Temperatures of the block and its border, row by row, and the place for the next step's. */
let now = new Float64Array((rows + 2) * stride);
let then = new Float64Array(now.length);

// ── One step ──

const column = {
  west: new Float64Array(rows),
  east: new Float64Array(rows),
  fromWest: new Float64Array(rows),
  fromEast: new Float64Array(rows),
};
const DOWN = 1;
const UP = 2;
const RIGHT = 3;
const LEFT = 4;

function exchangeBorders(u: Float64Array): void {
  const row = (i: number): Float64Array => u.subarray(i * stride + 1, i * stride + 1 + columns);
  for (let i = 0; i < rows; i++) {
    column.west[i] = u[(i + 1) * stride + 1]!;
    column.east[i] = u[(i + 1) * stride + columns]!;
  }
  const requests: Request[] = [
    grid.irecv(row(0), north, DOWN),
    grid.irecv(row(rows + 1), south, UP),
    grid.irecv(column.fromWest, west, RIGHT),
    grid.irecv(column.fromEast, east, LEFT),
    grid.isend(row(1), north, UP),
    grid.isend(row(rows), south, DOWN),
    grid.isend(column.west, west, LEFT),
    grid.isend(column.east, east, RIGHT),
  ];
  waitall(requests);
  // Where there is no neighbour the border is the plate's edge, whose temperature is given.
  for (let i = 0; i < rows; i++) {
    if (west >= 0) u[(i + 1) * stride] = column.fromWest[i]!;
    if (east >= 0) u[(i + 1) * stride + columns + 1] = column.fromEast[i]!;
  }
}

/** Every point becomes the mean of its four neighbours. Returns the largest change. */
function relax(u: Float64Array, v: Float64Array): number {
  let change = 0;
  for (let i = 1; i <= rows; i++)
    for (let k = i * stride + 1, end = k + columns; k < end; k++) {
      const mean = 0.25 * (u[k - stride]! + u[k + stride]! + u[k - 1]! + u[k + 1]!);
      change = Math.max(change, Math.abs(mean - u[k]!));
      v[k] = mean;
    }
  return change;
}

// ── The picture ──

const palette = thermal();

/** Gathers the plate as colours at rank 0, which writes it. */
function writePicture(u: Float64Array): void {
  const mine = new Uint8Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      mine[i * columns + j] = Math.max(0, Math.min(255, Math.round(64 + 150 * u[(i + 1) * stride + j + 1]!)));
  if (grid.rank !== 0) return grid.gatherv(mine, null);
  const blocks = Array.from({ length: grid.size }, (_, rank) => blockOf(rank));
  const data = new Uint8Array(n * n);
  grid.gatherv(mine, { data, counts: blocks.map((b) => b.rows * b.columns) });
  const plate = new Uint8Array(n * n);
  let from = 0;
  for (const b of blocks)
    for (let i = 0; i < b.rows; i++, from += b.columns)
      plate.set(data.subarray(from, from + b.columns), (b.top - 1 + i) * n + b.left - 1);
  const png = new Png(n, n, palette);
  png.setAll(plate);
  files.write('heat.png', png.bytes);
}

// ── The run ──

const start = temperature(n, 0);
for (let i = 0; i < rows + 2; i++)
  for (let j = 0; j < stride; j++) now[i * stride + j] = start(top - 1 + i, left - 1 + j);
then.set(now);

const state = { step: 0 };
checkpoint.register('state', state);
// Two arrays take turns: keep the one that is current.
checkpoint.register('plate', { get: () => now, set: (kept: Float64Array<ArrayBuffer>) => now.set(kept) });
if (checkpoint.open().restarted) {
  checkpoint.rollback('state');
  checkpoint.rollback('plate');
  then.set(now);
}

const every = Math.max(1, Math.ceil(steps / Math.max(1, pictures)));
while (state.step < steps) {
  checkpoint.here();
  grid.progress(state.step, steps);
  exchangeBorders(now);
  const change = relax(now, then);
  [now, then] = [then, now];
  state.step++;
  if (state.step % every === 0 || state.step === steps) {
    const largest = grid.allreduce(change, MAX);
    if (pictures > 0) writePicture(now);
    if (grid.rank === 0) console.log(`step ${state.step}: largest change ${largest.toExponential(4)}`);
  }
}

// ── The check: the exact answer is known ──

const exact = temperature(n, steps);
let error = 0;
let heat = 0;
for (let i = 1; i <= rows; i++)
  for (let j = 1; j <= columns; j++) {
    const u = now[i * stride + j]!;
    heat += u;
    error = Math.max(error, Math.abs(u - exact(top - 1 + i, left - 1 + j)));
  }
const worst = grid.allreduce(error, MAX);
const mean = grid.allreduce(heat, SUM) / (n * n);
if (grid.rank === 0) {
  console.log(`mean temperature ${mean.toFixed(12)} on ${grid.dims.join(' × ')} ranks`);
  console.log(
    `${worst < 1e-9 ? 'PASS' : 'FAIL'}: off the exact answer by at most ${worst.toExponential(2)}, 1e-9 is allowed`,
  );
  if (!(worst < 1e-9)) exit(1);
}
