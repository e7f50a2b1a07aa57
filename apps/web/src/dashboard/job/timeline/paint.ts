/**
 * Draws lanes. The cells stand in an ImageData with one pixel per column and one per rank (or SUB of them where rows
 * are high: the shares, stacked), which is brought up to date where columns have changed and stretched over the plot:
 * what a frame costs does not depend on what is in it.
 */
import { alertsOf, arrowOf, lanesOf, type Clusters } from './alerts.ts';
import { LANE_KINDS, type Arrow, type TimelineEvent } from '@mayfly/wire';
import { DEAD, KINDS, coloursOf } from './kinds.ts';
import type { Plot } from './plot.ts';
import { label, stepFor } from './range.ts';
import type { Sheet } from './sheet.ts';

const K = LANE_KINDS.length;
/** Of 255: less is as good as nothing known. */
const UNKNOWN = 8;
/** Levels of a stacked row. */
const SUB = 8;
/** px from which on a row is stacked and its marks stand in it. */
export const HIGH_ROW = 7;

/** The cells of a sheet as a picture. */
export class Cells {
  readonly canvas = document.createElement('canvas');
  #sheet: Sheet | undefined;
  #from = 0;
  #sub = 0;
  #dark = false;
  #room = 0;

  /** Brings columns from `changed` on up to date; all of them when anything else has changed. */
  update(sheet: Sheet, changed: number, rowHeight: number, dark: boolean): void {
    const sub = rowHeight >= HIGH_ROW ? SUB : 1;
    const same =
      this.#sheet === sheet &&
      this.#from === sheet.from &&
      this.#sub === sub &&
      this.#dark === dark &&
      sheet.columns <= this.#room;
    if (!same) {
      this.#sheet = sheet;
      this.#from = sheet.from;
      this.#sub = sub;
      this.#dark = dark;
      this.#room = sheet.columns + 64;
      this.canvas.width = this.#room;
      this.canvas.height = sheet.rows * sub;
    }
    this.#fill(sheet, same ? changed : 0, sub, dark);
  }

  #fill(sheet: Sheet, first: number, sub: number, dark: boolean): void {
    const width = sheet.columns - first;
    const context = this.canvas.getContext('2d');
    if (width <= 0 || !context) return;
    const image = context.createImageData(width, sheet.rows * sub);
    const pixels = new Uint32Array(image.data.buffer);
    const rgba = coloursOf(dark).map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
    const { shares, stride } = sheet;
    for (let c = 0; c < width; c++)
      for (let row = 0; row < sheet.rows; row++) {
        const o = (first + c) * stride + row * K;
        let sum = 0;
        let most = 0;
        for (let k = 0; k < K; k++) {
          sum += shares[o + k]!;
          if (shares[o + k]! > shares[o + most]!) most = k;
        }
        if (sum < UNKNOWN) continue;
        if (sub === 1) {
          // A death is short and matters: a quarter of a column shows it.
          pixels[row * width + c] = rgba[shares[o + DEAD]! * 4 > sum ? DEAD : most]!;
          continue;
        }
        let k = 0;
        let upTo = shares[o]!;
        for (let level = 0; level < sub; level++) {
          while (k < K - 1 && upTo * sub <= (level + 0.5) * sum) upTo += shares[o + ++k]!;
          pixels[(row * sub + sub - 1 - level) * width + c] = rgba[k]!;
        }
      }
    context.putImageData(image, first, 0);
  }

  draw(into: CanvasRenderingContext2D, p: Plot): void {
    const s = this.#sheet;
    if (!s) return;
    const scale = p.width / (p.to - p.from);
    const gap = p.rowHeight >= HIGH_ROW ? 1 : 0;
    into.imageSmoothingEnabled = false;
    const x = p.left + (s.from - p.from) * scale;
    const w = s.columns * s.widthMs * scale;
    if (gap === 0) {
      into.drawImage(
        this.canvas,
        0,
        0,
        s.columns,
        s.rows,
        x,
        p.top + (s.first - p.firstRow) * p.rowHeight,
        w,
        s.rows * p.rowHeight,
      );
      return;
    }
    for (let row = 0; row < s.rows; row++) {
      const y = p.top + (s.first + row - p.firstRow) * p.rowHeight;
      if (y + p.rowHeight < p.top || y > p.top + p.height) continue;
      into.drawImage(this.canvas, 0, row * SUB, s.columns, SUB, x, y + gap, w, p.rowHeight - 2 * gap);
    }
  }
}

const patterns = new Map<string, CanvasPattern | null>();
function hatch(
  context: CanvasRenderingContext2D,
  kind: 'diagonal' | 'dots' | 'upright',
  dark: boolean,
): CanvasPattern | null {
  const key = `${kind}${dark}`;
  if (patterns.has(key)) return patterns.get(key)!;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const t = tile.getContext('2d')!;
  t.strokeStyle = t.fillStyle = dark ? 'rgb(0 0 0 / 55%)' : 'rgb(255 255 255 / 75%)';
  if (kind === 'dots') t.fillRect(2, 2, 2, 2);
  else {
    t.beginPath();
    for (const d of kind === 'upright' ? [3] : [-6, 0, 6]) {
      t.moveTo(d, 6);
      t.lineTo(kind === 'upright' ? d : d + 6, 0);
    }
    t.lineWidth = 1.2;
    t.stroke();
  }
  const pattern = context.createPattern(tile, 'repeat');
  patterns.set(key, pattern);
  return pattern;
}

/** Hatches over what is hatched, where rows are high. */
export function drawHatches(into: CanvasRenderingContext2D, p: Plot, s: Sheet, dark: boolean): void {
  if (p.rowHeight < HIGH_ROW) return;
  const scale = p.width / (p.to - p.from);
  const a = Math.max(0, Math.floor((p.from - s.from) / s.widthMs));
  const b = Math.min(s.columns, Math.ceil((p.to - s.from) / s.widthMs));
  KINDS.forEach((look, k) => {
    const pattern = look.hatch && hatch(into, look.hatch, dark);
    if (!pattern) return;
    into.fillStyle = pattern;
    for (let row = 0; row < s.rows; row++) {
      const y = p.top + (s.first + row - p.firstRow) * p.rowHeight;
      for (let c = a; c < b; c++) {
        const o = c * s.stride + row * K;
        if (s.shares[o + k] === 0) continue;
        let [sum, below] = [0, 0];
        for (let i = 0; i < K; i++) {
          sum += s.shares[o + i]!;
          if (i < k) below += s.shares[o + i]!;
        }
        if (sum < UNKNOWN) continue;
        const h = (p.rowHeight - 2) / sum;
        into.fillRect(
          p.left + (s.from + c * s.widthMs - p.from) * scale,
          y + p.rowHeight - 1 - (below + s.shares[o + k]!) * h,
          s.widthMs * scale,
          s.shares[o + k]! * h,
        );
      }
    }
  });
}

export interface Ink {
  ink: string;
  muted: string;
  line: string;
  bad: string;
  again: string;
  surface: string;
  focus: string;
}

export function drawFrame(into: CanvasRenderingContext2D, p: Plot, size: number, ink: Ink): void {
  into.font = '11px system-ui, sans-serif';
  into.textBaseline = 'middle';
  into.strokeStyle = ink.line;
  into.fillStyle = ink.muted;
  into.lineWidth = 1;
  const scale = p.width / (p.to - p.from);
  const step = stepFor(p.to - p.from, p.width);
  into.textAlign = 'center';
  into.beginPath();
  for (let t = Math.ceil((p.from - p.since) / step) * step; t <= p.to - p.since; t += step) {
    const x = Math.round(p.left + (p.since + t - p.from) * scale) + 0.5;
    into.moveTo(x, p.top - 4);
    into.lineTo(x, p.top);
    const text = label(t);
    const half = into.measureText(text).width / 2;
    if (x - half >= 0 && x + half <= p.left + p.width) into.fillText(text, x, p.top - 11);
  }
  into.stroke();
  into.textAlign = 'right';
  const every = Math.max(1, 2 ** Math.ceil(Math.log2(13 / p.rowHeight)));
  for (let r = Math.ceil(p.firstRow / every) * every; r < size; r += every) {
    const y = p.top + (r - p.firstRow + 0.5) * p.rowHeight;
    if (y > p.top + p.height) break;
    if (y >= p.top + 4) into.fillText(String(r), p.left - 6, y);
  }
}

/**
 * What happened: ✕ a fault, | an incarnation given to a node, ◆ a checkpoint complete; across all ranks a thin line for
 * a wave, and ▼ with a thick one for a rollback, across those of its cluster if it is of one; I across the ranks of a
 * team that is dissolved, is made of others, or moves.
 */
export function drawEvents(
  into: CanvasRenderingContext2D,
  p: Plot,
  events: readonly TimelineEvent[],
  ink: Ink,
  clusters: Clusters = [],
): void {
  const scale = p.width / (p.to - p.from);
  const high = p.rowHeight >= HIGH_ROW;
  for (const e of events) {
    if (e.at < p.from || e.at > p.to) continue;
    const x = p.left + (e.at - p.from) * scale;
    if (e.kind === 'server' || e.kind === 'paused' || e.kind === 'resumed') {
      into.strokeStyle = ink.ink;
      into.setLineDash([3, 3]);
      into.beginPath();
      into.moveTo(x, p.top);
      into.lineTo(x, p.top + p.height);
      into.stroke();
      into.setLineDash([]);
      continue;
    }
    if (e.kind === 'wave') {
      into.fillStyle = ink.again;
      into.fillRect(Math.round(x), p.top, 1, p.height);
      continue;
    }
    if (e.kind === 'rollback') {
      const ranks = e.cluster === undefined ? undefined : clusters[e.cluster];
      const lanes = ranks ? lanesOf(p, ranks) : [[p.top, p.top + p.height] as const];
      for (const [from, to] of lanes) rollback(into, Math.round(x), from, to, ink);
      continue;
    }
    if (e.ranks) {
      into.fillStyle = ink.ink;
      for (const [from, to] of lanesOf(p, e.ranks)) {
        into.fillRect(Math.round(x), from, 1.5, to - from);
        for (const y of [from, to - 1.5]) into.fillRect(Math.round(x) - 3, y, 7.5, 1.5);
      }
      continue;
    }
    if (e.task === undefined) continue;
    const y = p.top + (e.task - p.firstRow + 0.5) * p.rowHeight;
    if (y < p.top || y > p.top + p.height) continue;
    if (e.kind === 'fault') cross(into, x, y, high ? Math.min(5, p.rowHeight / 2 - 1) : 4, ink);
    else if (high && e.kind === 'image') {
      into.fillStyle = ink.surface;
      into.strokeStyle = ink.ink;
      into.lineWidth = 1;
      into.beginPath();
      const d = Math.min(4, p.rowHeight / 2 - 1);
      into.moveTo(x, y - d);
      into.lineTo(x + d, y);
      into.lineTo(x, y + d);
      into.lineTo(x - d, y);
      into.closePath();
      into.fill();
      into.stroke();
    } else if (high && e.kind === 'assigned') {
      into.fillStyle = ink.ink;
      into.fillRect(Math.round(x), y - p.rowHeight / 2 + 1, 1.5, p.rowHeight - 2);
    }
  }
}

/** With a border, since what is under it may have its colour. */
function rollback(into: CanvasRenderingContext2D, x: number, top: number, bottom: number, ink: Ink): void {
  into.fillStyle = ink.surface;
  into.fillRect(x - 2.5, top, 5, bottom - top);
  into.fillStyle = ink.bad;
  into.fillRect(x - 1.5, top, 3, bottom - top);
  into.beginPath();
  into.moveTo(x - 6, top);
  into.lineTo(x + 6, top);
  into.lineTo(x, top + 8);
  into.closePath();
  into.fill();
}

function cross(into: CanvasRenderingContext2D, x: number, y: number, d: number, ink: Ink): void {
  for (const [colour, width] of [
    [ink.surface, 4.5],
    [ink.bad, 2],
  ] as const) {
    into.strokeStyle = colour;
    into.lineWidth = width;
    into.beginPath();
    into.moveTo(x - d, y - d);
    into.lineTo(x + d, y + d);
    into.moveTo(x - d, y + d);
    into.lineTo(x + d, y - d);
    into.stroke();
  }
  into.lineWidth = 1;
}

/** Each from the cluster that went back to one that it took back. @returns how many */
export function drawAlerts(
  into: CanvasRenderingContext2D,
  p: Plot,
  events: readonly TimelineEvent[],
  clusters: Clusters,
  ink: Ink,
): number {
  const arrows = alertsOf(events).flatMap((a) => arrowOf(p, clusters, a) ?? []);
  for (const [colour, width] of [
    [ink.surface, 5],
    [ink.bad, 2],
  ] as const) {
    into.strokeStyle = colour;
    into.lineWidth = width;
    into.beginPath();
    for (const { x0, y0, x1, y1 } of arrows) {
      const far = Math.max(1, Math.hypot(x1 - x0, y1 - y0));
      const [dx, dy] = [(8 * (x1 - x0)) / far, (8 * (y1 - y0)) / far];
      into.moveTo(x0, y0);
      into.lineTo(x1, y1);
      into.moveTo(x1 - dx - dy / 1.6, y1 - dy + dx / 1.6);
      into.lineTo(x1, y1);
      into.lineTo(x1 - dx + dy / 1.6, y1 - dy - dx / 1.6);
    }
    into.stroke();
  }
  into.lineWidth = 1;
  return arrows.length;
}

/** Each from its source's lane to its destination's, where it was logged. */
export function drawArrows(into: CanvasRenderingContext2D, p: Plot, arrows: readonly Arrow[], ink: Ink): void {
  const scale = p.width / (p.to - p.from);
  into.strokeStyle = into.fillStyle = ink.ink;
  into.globalAlpha = 0.65;
  into.lineWidth = 1;
  into.beginPath();
  for (const [at, src, dst] of arrows) {
    if (at < p.from || at > p.to) continue;
    const x = Math.round(p.left + (at - p.from) * scale) + 0.5;
    const y0 = p.top + (src - p.firstRow + 0.5) * p.rowHeight;
    const y1 = p.top + (dst - p.firstRow + 0.5) * p.rowHeight;
    const d = y1 > y0 ? -1 : 1;
    into.moveTo(x, y0);
    into.lineTo(x, y1);
    into.moveTo(x - 2.5, y1 + 4 * d);
    into.lineTo(x, y1);
    into.lineTo(x + 2.5, y1 + 4 * d);
  }
  into.stroke();
  into.globalAlpha = 1;
}
