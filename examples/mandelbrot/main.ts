/**
 * The Mandelbrot set by a master and its workers. The master deals out bands of rows to whoever is free (ANY_SOURCE),
 * and puts every band into the picture as it comes back, so that the picture grows while it runs. Whatever the order of
 * the answers, the finished picture is the same.
 *
 *   --width 768         pixels; the height is two thirds of it
 *   --iterations 2000   steps after which a point counts as inside (at most 65535)
 *   --rows 8            rows of a band
 *   --repeat 1          computes every band this many times (to make the run longer)
 */
import { ANY_SOURCE, COMM_WORLD as comm, args, checkpoint, exit, files } from 'mayfly';
import { escapeTimes, type View } from './escape.ts';
import { Png, type Part } from './png.ts';
import { fire } from './palette.ts';

const option = (name: string, otherwise: number): number => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(args[at + 1]);
};
const width = option('width', 768);
const limit = option('iterations', 2000);
const bandRows = option('rows', 8);
const repeat = option('repeat', 1);

const height = Math.round((width * 2) / 6) * 2;
const view: View = { width, height, left: -2.4, top: (3.5 * height) / width / 2, scale: 3.5 / width };
const bands = Math.ceil(height / bandRows);
const rowsOf = (band: number): number => Math.min(bandRows, height - band * bandRows);

const WORK = 1; // master → worker: Int32Array [band], or [NO_MORE]
const RESULT = 2; // worker → master: Uint16Array [band, escape times …]
const NO_MORE = -1;

/** A band's number, then its escape times. */
function compute(band: number): Uint16Array {
  const result = new Uint16Array(1 + rowsOf(band) * width);
  result[0] = band;
  for (let k = 0; k < repeat; k++) result.set(escapeTimes(view, band * bandRows, rowsOf(band), limit), 1);
  return result;
}

/** Black inside; outside the colours go round, slower the longer the escape takes. */
const colours = (times: Uint16Array): Uint8Array =>
  Uint8Array.from(times, (t) => (t >= limit ? 0 : 1 + (Math.floor(24 * Math.log2(1 + t)) % 255)));

function worker(): void {
  const order = new Int32Array(1);
  // Nothing needs to be kept: a restarted worker goes on at its last checkpoint, and need not compute again what it has
  // sent.
  checkpoint.open();
  for (;;) {
    checkpoint.here();
    comm.recv(order, 0, WORK);
    if (order[0] === NO_MORE) return;
    comm.send(compute(order[0]!), 0, RESULT);
  }
}

function master(): void {
  const png = new Png(width, height, fire(), bandRows);
  const state = { next: 0, finished: 0, inside: 0, hash: 0 };
  const write = (parts: Part[]): void =>
    parts.forEach(({ offset, bytes }) => files.writeAt('mandelbrot.png', offset, bytes));
  const deal = (to: number): void => comm.send(Int32Array.of(state.next < bands ? state.next++ : NO_MORE), to, WORK);

  /** Takes a result into the picture. */
  const accept = (result: Uint16Array): void => {
    const band = result[0]!;
    const times = result.subarray(1, 1 + rowsOf(band) * width);
    write(png.setBand(band, colours(times)));
    // A sum over hashes of bands: the same in whatever order they come.
    let hash = 0x811c9dc5 ^ band;
    for (const t of times) {
      hash = Math.imul(hash ^ t, 0x01000193);
      if (t >= limit) state.inside++;
    }
    state.hash = (state.hash + hash) | 0;
    state.finished++;
  };

  checkpoint.register('state', state);
  checkpoint.register('picture', png.bytes);
  const { restarted } = checkpoint.open();
  if (restarted) {
    checkpoint.rollback('state');
    checkpoint.rollback('picture');
  } else {
    files.write('mandelbrot.png', png.bytes);
    for (let rank = 1; rank < comm.size; rank++) deal(rank);
  }

  const result = new Uint16Array(1 + bandRows * width);
  while (state.finished < bands) {
    checkpoint.here();
    comm.progress(state.finished, bands);
    if (comm.size === 1) accept(compute(state.next++));
    else {
      const { source } = comm.recv(result, ANY_SOURCE, RESULT);
      accept(result);
      deal(source);
    }
    if (state.finished % Math.ceil(bands / 10) === 0) console.log(`${state.finished} of ${bands} bands`);
  }

  console.log(`picture ${width} × ${height}, hash ${(state.hash >>> 0).toString(16).padStart(8, '0')}`);
  check(png, state.inside);
}

/** The set's area is 1.50659…; and a few bands computed here must be those that came. */
function check(png: Png, inside: number): void {
  const area = inside * view.scale ** 2;
  // Pixels on the rim count whole or not at all, and too few iterations count more points as inside.
  const allowed = 0.01 + 4 * view.scale + 3 / limit;
  const areaOk = Math.abs(area - 1.50659) < allowed;
  let differ = 0;
  for (const band of [0, bands >> 2, bands >> 1, bands - 1]) {
    const before = png.bytes.slice();
    const times = escapeTimes(view, band * bandRows, rowsOf(band), limit);
    png.setBand(band, colours(times));
    if (before.some((b, i) => b !== png.bytes[i])) differ++;
  }
  console.log(
    `${areaOk && differ === 0 ? 'PASS' : 'FAIL'}: area ${area.toFixed(5)} (1.50659, ${allowed.toFixed(3)} ` +
      `allowed), ${differ} of 4 bands differ when computed again`,
  );
  if (!areaOk || differ > 0) exit(1);
}

if (comm.rank === 0) master();
else worker();
