/**
 * Who waits for whom in a deadlock, read from the server's report of it, and the drawing of that: ranks in a ring, the
 * ones that wait for each other in the order in which they do. Pure.
 */
import type { JobView } from '@mayfly/wire';

export interface Wait {
  rank: number;
  /** 'in MPI_Recv for rank 1, tag 7, at main (ring.c:9)'. */
  text: string;
  /** Undefined: any rank, or standard input. */
  peer: number | undefined;
}

export interface Waits {
  waits: Wait[];
  /** Ranks that wait for each other, the first not repeated; empty: there is no such ring. */
  cycle: number[];
}

/** What each rank waited for; undefined: the job did not end in a deadlock. */
export function waitsOf(error: JobView['error']): Waits | undefined {
  if (error?.code !== 'DEADLOCK') return undefined;
  const waits: Wait[] = [];
  let cycle: number[] = [];
  for (const line of error.message.split('\n')) {
    const wait = /^ {2}rank (\d+) waits (in .+? for (?:rank (\d+)|any rank|standard input).*)$/.exec(line);
    if (wait) waits.push({ rank: Number(wait[1]), text: wait[2]!, peer: wait[3] ? Number(wait[3]) : undefined });
    const ring = /^Wait cycle: ([\d →]+)$/.exec(line);
    if (ring) cycle = ring[1]!.split(' → ').map(Number).slice(0, -1);
  }
  return waits.length === 0 ? undefined : { waits, cycle };
}

/** More ranks than these are not told apart in a picture. */
const MOST = 16;
/** Sizes in px: of a circle, between the middles of neighbours, around all, and how far an arrow bends. */
export const RADIUS = 17;
const APART = 76;
const MARGIN = RADIUS + 4;
const BEND = 14;
const HEAD = 8;

export interface Circle {
  rank: number;
  x: number;
  y: number;
  /** It waits; the others have ended. */
  waits: boolean;
  /** It is one of those that wait for each other. */
  ring: boolean;
}
export interface Arrow {
  from: number;
  to: number;
  ring: boolean;
  line: string;
  head: string;
}
export interface Drawing {
  size: number;
  circles: Circle[];
  arrows: Arrow[];
}

/** Undefined: nobody waits for a certain rank, or there are too many; of many, those alone that wait for each other. */
export function drawingOf({ waits, cycle }: Waits): Drawing | undefined {
  const ring = new Set(cycle);
  const all = new Set([...cycle, ...waits.flatMap((w) => (w.peer === undefined ? [w.rank] : [w.rank, w.peer]))]);
  const ranks = [...(all.size > MOST ? ring : all)];
  if (ranks.length === 0 || ranks.length > MOST || waits.every((w) => w.peer === undefined)) return undefined;
  const far = ranks.length === 1 ? 0 : APART / 2 / Math.sin(Math.PI / ranks.length);
  // Room for the loop of a rank that waits for itself.
  const size = Math.round(2 * (far + MARGIN + (waits.some((w) => w.peer === w.rank) ? RADIUS : 0)));
  const waiting = new Set(waits.map((w) => w.rank));
  const circles = ranks.map((rank, i): Circle => {
    const angle = (2 * Math.PI * i) / ranks.length - Math.PI / 2;
    const [x, y] = [size / 2 + far * Math.cos(angle), size / 2 + far * Math.sin(angle)];
    return { rank, x: round(x), y: round(y), waits: waiting.has(rank), ring: ring.has(rank) };
  });
  const at = new Map(circles.map((c) => [c.rank, c]));
  const arrows = waits.flatMap((w): Arrow[] => {
    const [a, b] = [at.get(w.rank), w.peer === undefined ? undefined : at.get(w.peer)];
    return a && b ? [{ from: a.rank, to: b.rank, ring: a.ring && b.ring, ...(a === b ? loop(a) : arc(a, b)) }] : [];
  });
  return { size, circles, arrows };
}

type Point = readonly [x: number, y: number];
const round = (n: number): number => Math.round(10 * n) / 10;
const text = ([x, y]: Point): string => `${round(x)} ${round(y)}`;

/** From one circle to the other, bent to its left: two that wait for each other have two arrows. */
function arc(a: Circle, b: Circle): Pick<Arrow, 'line' | 'head'> {
  const long = Math.hypot(b.x - a.x, b.y - a.y);
  const [ux, uy] = [(b.x - a.x) / long, (b.y - a.y) / long];
  const [mx, my] = [(a.x + b.x) / 2 + 2 * BEND * uy, (a.y + b.y) / 2 - 2 * BEND * ux];
  // Two thirds of the way to one point: as round as a curve of degree two.
  const near = ({ x, y }: Circle): Point => [x + ((mx - x) * 2) / 3, y + ((my - y) * 2) / 3];
  return curve([a.x, a.y], near(a), near(b), [b.x, b.y]);
}

/** Out of a circle above, and back into it. */
const loop = ({ x, y }: Circle): Pick<Arrow, 'line' | 'head'> =>
  curve([x, y], [x - 2 * RADIUS, y - 2.4 * RADIUS], [x + 2 * RADIUS, y - 2.4 * RADIUS], [x, y]);

/** Between the edges of two circles, by its two points of control; its head is a triangle. */
function curve(a: Point, p: Point, q: Point, b: Point): Pick<Arrow, 'line' | 'head'> {
  const towards = (from: Point, to: Point): Point => {
    const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
    return [(to[0] - from[0]) / long, (to[1] - from[1]) / long];
  };
  const out = towards(a, p);
  const [ix, iy] = towards(b, q);
  const tip: Point = [b[0] + ix * (RADIUS + 2), b[1] + iy * (RADIUS + 2)];
  const neck: Point = [tip[0] + ix * HEAD, tip[1] + iy * HEAD];
  const side = HEAD * 0.55;
  return {
    line: `M ${text([a[0] + out[0] * RADIUS, a[1] + out[1] * RADIUS])} C ${text(p)}, ${text(q)}, ${text(neck)}`,
    head: `M ${text(tip)} L ${text([neck[0] - iy * side, neck[1] + ix * side])} L ${text([neck[0] + iy * side, neck[1] - ix * side])} Z`,
  };
}
