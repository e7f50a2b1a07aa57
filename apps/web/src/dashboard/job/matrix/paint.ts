/** The matrix on its canvas: a colour for each cell, its number where there is room, and the ranks at the edges. */
import { bytes, count } from '../../../shared/format.ts';
import { shade, type Grid, type Metric } from './grid.ts';

/** Room for the ranks at the left and above, px. */
export const LABELS = 34;
export const TOP = 22;

export const cellPx = (g: Grid | undefined, side: number): number =>
  g ? (side - LABELS - 2) / Math.max(g.wide, g.high) : 1;

/** Nothing, then from little to much: lightness alone tells them apart. */
function colour(x: number, dark: boolean): string {
  const [from, to] = dark
    ? [
        [32, 52, 50],
        [170, 250, 238],
      ]
    : [
        [215, 234, 231],
        [5, 62, 56],
      ];
  return `rgb(${from!.map((a, i) => Math.round(a + (to![i]! - a) * x)).join(' ')})`;
}

/** Whichever of black and white is read better on that colour. */
const inkOn = (x: number, dark: boolean): string => ((dark ? x < 0.4 : x > 0.6) ? '#fff' : '#000');

/** Of a cell with a number in it, px. */
const NUMBER_HIGH = 18;

export function paint(
  canvas: HTMLCanvasElement,
  g: Grid,
  metric: Metric,
  cell: { s: number; d: number } | undefined,
  dark: boolean,
  side: number,
): void {
  const ratio = Math.min(2, devicePixelRatio || 1);
  canvas.width = canvas.height = Math.round(side * ratio);
  const c = canvas.getContext('2d');
  if (!c) return;
  const style = getComputedStyle(canvas);
  const v = (name: string): string => style.getPropertyValue(name).trim();
  const px = cellPx(g, side);
  const gap = px >= 6 ? 1 : 0;
  c.scale(ratio, ratio);
  c.fillStyle = v('--sunk');
  c.fillRect(LABELS, TOP, g.wide * px, g.high * px);
  const most = g.most(metric);
  const say = metric === 'bytes' ? bytes : count;
  c.font = '11px system-ui, sans-serif';
  c.textBaseline = 'middle';
  c.textAlign = 'center';
  for (let s = 0; s < g.high; s++)
    for (let d = 0; d < g.wide; d++) {
      const x = shade(g.at(s, d)[metric], most);
      if (x === 0) continue;
      c.fillStyle = colour(x, dark);
      c.fillRect(LABELS + d * px, TOP + s * px, px - gap + (gap ? 0 : 0.5), px - gap + (gap ? 0 : 0.5));
      if (px < NUMBER_HIGH) continue;
      const text = say(g.at(s, d)[metric]);
      if (c.measureText(text).width > px - 8) continue;
      c.fillStyle = inkOn(x, dark);
      c.fillText(text, LABELS + (d + 0.5) * px, TOP + (s + 0.5) * px);
    }
  c.fillStyle = v('--muted');
  const every = Math.max(1, 2 ** Math.ceil(Math.log2(24 / px)));
  for (let i = 0; i < Math.max(g.wide, g.high); i += every) {
    c.textAlign = 'center';
    if (i < g.wide) c.fillText(String(g.ranks('dst', i)[0]), LABELS + (i + 0.5) * px, 12);
    c.textAlign = 'right';
    if (i < g.high) c.fillText(String(g.ranks('src', i)[0]), LABELS - 6, TOP + (i + 0.5) * px);
  }
  if (!cell) return;
  c.strokeStyle = v('--focus');
  c.lineWidth = 2;
  c.strokeRect(LABELS + cell.d * px, TOP + cell.s * px, px - gap, px - gap);
}
