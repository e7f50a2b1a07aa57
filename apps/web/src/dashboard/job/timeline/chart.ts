/**
 * The time line on its canvas: what it shows, what it has, when it draws.
 *
 * Owns: the range and the rows that are shown, the columns and events that are here, the cursor.
 *  C1  It draws when something has changed that can be seen: after news, after a move, and while it follows the end as
 *      often as the end moves by a pixel, ten times a second at most. A hidden page draws nothing.
 *  C2  It asks for the columns that it draws (and a margin) in the width in which it draws them, and for news of these
 *      only.
 */
import {
  WORLD,
  unpackArrows,
  type Arrow,
  type ArrowNews,
  type Look,
  type TimelineEvent,
  type TimelineNews,
  type TimelineView,
} from '@mayfly/wire';
import type { Clusters } from './alerts.ts';
import { isDark } from './kinds.ts';
import { Cells, HIGH_ROW, drawAlerts, drawArrows, drawEvents, drawFrame, drawHatches, type Ink } from './paint.ts';
import type { Plot } from './plot.ts';
import { pan, settle, widthFor, zoom, type Mode, type Range, type Run } from './range.ts';
import { Sheet } from './sheet.ts';

/** At most as fine as this are messages drawn. */
export const ARROWS_SPAN = 30_000;
const MOST_ARROWS = 4000;
const MOST_EVENTS = 8192;
const TOP = 22;
const TALLEST_ROW = 24;
const HEIGHT = 420;
const FRAME_MS = 100;

export interface Asked {
  from: number;
  to: number;
  first: number;
  last: number;
  columns: number;
}
export interface ChartHost {
  read(asked: Asked, abort: AbortSignal): Promise<TimelineView & { bytes: Uint8Array }>;
  look(look: NonNullable<Look['timeline']> | undefined): void;
  now(): number;
  /** Something that is said in words has changed; `now`: by a control that shows its own state. */
  changed(now?: boolean): void;
}
export interface Cursor {
  rank: number;
  at: number;
}

export class Chart {
  readonly size: number;
  range: Range = { mode: 'whole', from: 0, to: 1 };
  run: Run = { since: 0, until: 0 };
  ended = false;
  known = false;
  error: Error | undefined;
  events: TimelineEvent[] = [];
  leftOut = 0;
  arrowsOn = false;
  oneIn = 1;
  cursor: Cursor | undefined;
  #clusters: Clusters = [];
  #arrows: Arrow[] = [];
  #sheet: Sheet | undefined;
  #dirty = 0;
  readonly #cells = new Cells();
  readonly #canvas: HTMLCanvasElement;
  readonly #host: ChartHost;
  #firstRow = 0;
  #rowHeight = 0;
  #cssWidth = 0;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reading: AbortController | undefined;
  #readTimer: ReturnType<typeof setTimeout> | undefined;
  #looked = '';
  #skew = 0;
  #drawnAt = 0;

  constructor(canvas: HTMLCanvasElement, size: number, host: ChartHost) {
    this.#canvas = canvas;
    this.size = size;
    this.#host = host;
    this.#rowHeight = this.fit;
  }

  // Measures

  /** Height of a row when all are shown. */
  get fit(): number {
    return Math.max(1, Math.min(TALLEST_ROW, HEIGHT / this.size));
  }
  get height(): number {
    return TOP + Math.ceil(Math.min(HEIGHT, this.fit * this.size)) + 1;
  }
  get rowHeight(): number {
    return this.#rowHeight;
  }
  get rows(): [number, number] {
    return [
      Math.floor(this.#firstRow),
      Math.min(this.size - 1, Math.ceil(this.#firstRow + (this.height - TOP) / this.#rowHeight) - 1),
    ];
  }
  get sheet(): Sheet | undefined {
    return this.#sheet;
  }
  get left(): number {
    return 14 + 7 * String(this.size - 1).length;
  }
  get plot(): Plot {
    return {
      left: this.left,
      top: TOP,
      width: Math.max(10, this.#cssWidth - this.left),
      height: this.height - TOP - 1,
      firstRow: this.#firstRow,
      rowHeight: this.#rowHeight,
      from: this.range.from,
      to: this.range.to,
      since: this.run.since,
    };
  }
  get span(): number {
    return this.range.to - this.range.from;
  }

  // Moves

  resize(width: number): void {
    if (width === this.#cssWidth) return;
    this.#cssWidth = width;
    this.#moved();
  }
  setMode(mode: Mode): void {
    this.#go({ ...this.range, mode });
    this.#host.changed(true);
  }
  zoomBy(factor: number, around?: number): void {
    const middle = this.range.mode === 'fixed' ? (this.range.from + this.range.to) / 2 : this.range.to;
    this.#go(zoom(this.range, this.run, factor, around ?? this.cursor?.at ?? middle));
  }
  panBy(ms: number): void {
    this.#go(pan(this.range, this.run, ms));
  }
  show(from: number, to: number): void {
    this.#go({ mode: 'fixed', from, to });
  }
  scrollRows(rows: number): void {
    const most = Math.max(0, this.size - (this.height - TOP - 1) / this.#rowHeight);
    const first = Math.min(most, Math.max(0, this.#firstRow + rows));
    if (first === this.#firstRow) return;
    this.#firstRow = first;
    this.#moved();
  }
  zoomRows(factor: number, around?: number): void {
    const rank = around ?? this.cursor?.rank ?? this.#firstRow;
    const height = Math.min(TALLEST_ROW, Math.max(this.fit, this.#rowHeight * factor));
    const y = (rank - this.#firstRow) * this.#rowHeight;
    this.#rowHeight = height;
    this.#firstRow = Math.min(
      Math.max(0, rank - y / height),
      Math.max(0, this.size - (this.height - TOP - 1) / height),
    );
    this.#moved();
  }
  setArrows(on: boolean): void {
    this.arrowsOn = on;
    if (!on) this.#arrows = [];
    this.#moved();
    this.#host.changed(true);
  }
  /** Of a job with clusters: the ranks of each. */
  setClusters(clusters: Clusters): void {
    this.#clusters = clusters;
    this.draw();
  }
  setCursor(c: Cursor | undefined): void {
    this.cursor = c;
    this.draw();
    this.#host.changed();
  }
  /** What is at a place of the canvas. */
  at(x: number, y: number): Cursor | undefined {
    const p = this.plot;
    const rank = Math.floor(p.firstRow + (y - p.top) / p.rowHeight);
    if (x < p.left || x > p.left + p.width || y < p.top || rank < 0 || rank >= this.size) return undefined;
    return { rank, at: p.from + ((x - p.left) / p.width) * (p.to - p.from) };
  }
  timeAt(x: number): number {
    const p = this.plot;
    return p.from + ((x - p.left) / p.width) * (p.to - p.from);
  }
  /** By keyboard: columns and ranks; what it leaves is brought to the screen. */
  moveCursor(columns: number, ranks: number): void {
    const w = this.#sheet?.widthMs ?? 1000;
    const old = this.cursor ?? { rank: this.rows[0], at: this.range.to };
    const rank = Math.min(this.size - 1, Math.max(0, old.rank + ranks));
    const column = Math.floor((Math.min(old.at, this.run.until - 1) - this.run.since) / w) + columns;
    const at = Math.max(this.run.since, Math.min(this.run.since + (column + 0.5) * w, this.run.until));
    if (at < this.range.from) this.panBy(at - this.range.from - this.span / 4);
    else if (at > this.range.to) this.panBy(at - this.range.to + this.span / 4);
    if (rank < this.rows[0]) this.scrollRows(rank - this.#firstRow);
    else if (rank > this.rows[1] - 1) this.scrollRows(rank + 1 - this.rows[1]);
    this.setCursor({ rank, at });
  }

  #go(to: Range): void {
    this.range = settle(to, this.run);
    this.#moved();
  }
  #moved(): void {
    this.#ask();
    this.draw();
    this.#host.changed();
  }

  // Data (C2)

  /** Asks for what is shown and not here, once it stands still for a moment. */
  #ask(at = 120): void {
    clearTimeout(this.#readTimer);
    this.#readTimer = setTimeout(() => void this.read(), this.known ? at : 0);
  }
  #needs(): Asked | undefined {
    const { from, to } = this.range;
    const p = this.plot;
    const width = widthFor(to - from, p.width);
    const [first, last] = this.rows;
    const s = this.#sheet;
    if (
      s &&
      s.widthMs === width &&
      s.first === first &&
      s.last === last &&
      s.from <= Math.max(this.run.since, from) &&
      s.to >= Math.min(this.run.until, to) - width
    )
      return undefined;
    const margin = this.range.mode === 'whole' ? 0 : (to - from) / 4;
    const a = Math.max(this.run.since, from - margin);
    const b = this.range.mode === 'fixed' ? to + margin : this.run.until;
    return { from: Math.floor(a), to: Math.ceil(b), first, last, columns: Math.max(1, Math.ceil((b - a) / width)) };
  }

  async read(): Promise<void> {
    const asked = this.known
      ? this.#needs()
      : {
          from: 0,
          to: Number.MAX_SAFE_INTEGER,
          first: this.rows[0],
          last: this.rows[1],
          columns: Math.max(1, Math.min(1024, Math.floor(this.plot.width / 2))),
        };
    if (!asked) return this.#look();
    this.#reading?.abort();
    const mine = (this.#reading = new AbortController());
    try {
      const view = await this.#host.read(asked, mine.signal);
      if (mine.signal.aborted) return;
      this.error = undefined;
      this.#sheet = new Sheet({ ...view, shares: view.bytes });
      this.#dirty = 0;
      this.ended = view.ended;
      this.run = {
        since: view.since,
        until: view.ended || !this.known ? view.until : Math.max(view.until, this.run.until),
        ended: view.ended,
      };
      this.leftOut = view.eventsLeftOut;
      if (!this.known) this.events = view.events;
      this.known = true;
      this.#skew = view.now - Date.now();
      this.range = settle(this.range, this.run);
      this.#look();
    } catch (e) {
      if (mine.signal.aborted) return;
      this.error = e as Error;
      this.#ask(3000);
    }
    this.draw();
    this.#host.changed();
  }

  #look(): void {
    const s = this.#sheet;
    const follows =
      !this.ended && s !== undefined && (this.range.mode !== 'fixed' || this.range.to > this.run.until - 5000);
    const arrows = this.arrowsOn && this.span <= ARROWS_SPAN;
    const look = follows
      ? { first: s.first as never, last: s.last as never, widthMs: s.widthMs, ...(arrows ? { arrows: true } : {}) }
      : undefined;
    const key = JSON.stringify(look ?? null);
    if (key === this.#looked) return;
    this.#looked = key;
    this.#host.look(look);
  }

  /** The connection was away: what came meanwhile is read. */
  again(): void {
    this.#looked = '';
    if (!this.known) return this.#ask();
    this.known = false;
    this.#ask();
  }

  news(n: TimelineNews): void {
    this.#skew = n.now - Date.now();
    this.run = { since: this.run.since, until: n.ended ? n.until : Math.max(this.run.until, n.until), ended: n.ended };
    if (n.events.length > 0) this.events = [...this.events, ...n.events].slice(-MOST_EVENTS);
    const changed = this.#sheet?.take({ ...n, shares: new Uint8Array(n.shares) });
    if (changed !== undefined) this.#dirty = Math.min(this.#dirty, changed);
    if (n.ended && !this.ended) {
      this.ended = true;
      this.#looked = '';
    }
    this.range = settle(this.range, this.run);
    // A range that grows needs wider columns now and then.
    if (this.#needs()) this.#ask();
    this.draw();
    this.#host.changed();
  }

  arrows(n: ArrowNews): void {
    this.oneIn = n.oneIn;
    this.#arrows.push(...unpackArrows(n));
    if (this.#arrows.length > MOST_ARROWS) this.#arrows = this.#arrows.slice(-MOST_ARROWS);
    this.draw();
  }
  /** The message that is logged nearest to the cursor in its lane, if one is drawn there. */
  arrowAt(c: Cursor): Arrow | undefined {
    if (!this.arrowsOn || this.span > ARROWS_SPAN) return undefined;
    const near = (3 / this.plot.width) * this.span;
    let best: Arrow | undefined;
    for (const a of this.#arrows) {
      if (
        Math.abs(a[0] - c.at) > near ||
        c.rank < Math.min(a[1], a[2]) ||
        c.rank > Math.max(a[1], a[2]) ||
        a[1] === WORLD
      )
        continue;
      if (!best || Math.abs(a[0] - c.at) < Math.abs(best[0] - c.at)) best = a;
    }
    return best;
  }

  // Drawing (C1)

  draw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    this.#frame = 0;
    clearTimeout(this.#timer);
    const { ratio, context } = this.#fitCanvas();
    if (!context || this.#cssWidth === 0) return;
    this.#drawnAt = Date.now();
    if (!this.ended && this.known && this.range.mode !== 'fixed') this.#follow();
    const p = this.plot;
    const dark = isDark();
    const ink = inkOf(this.#canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.#cssWidth, this.height);
    drawFrame(context, p, this.size, ink);
    context.save();
    context.beginPath();
    context.rect(p.left, p.top, p.width, p.height);
    context.clip();
    const s = this.#sheet;
    if (s) {
      this.#cells.update(s, this.#dirty, p.rowHeight, dark);
      this.#dirty = s.columns;
      this.#cells.draw(context, p);
      drawHatches(context, p, s, dark);
    }
    if (this.arrowsOn && this.span <= ARROWS_SPAN) drawArrows(context, p, this.#arrows, ink);
    drawEvents(context, p, this.events, ink, this.#clusters);
    this.#canvas.dataset.alerts = String(drawAlerts(context, p, this.events, this.#clusters, ink));
    this.#drawCursor(context, p, ink);
    context.restore();
  }

  /**
   * The end moves on between the news: as far as the clock says, a second and a half behind, where columns are known.
   */
  #follow(): void {
    const until = Math.max(this.run.until, Math.min(this.run.until + 1500, Date.now() + this.#skew));
    this.range = settle(this.range, { since: this.run.since, until });
    const pxMs = this.span / this.plot.width;
    if (document.hidden) return;
    this.#timer = setTimeout(() => this.draw(), Math.max(FRAME_MS, pxMs));
  }

  #drawCursor(context: CanvasRenderingContext2D, p: Plot, ink: Ink): void {
    const c = this.cursor;
    const w = this.#sheet?.widthMs;
    if (!c || !w) return;
    const scale = p.width / (p.to - p.from);
    const from = this.run.since + Math.floor((c.at - this.run.since) / w) * w;
    context.strokeStyle = ink.focus;
    context.lineWidth = 2;
    context.strokeRect(
      p.left + (from - p.from) * scale,
      p.top + (c.rank - p.firstRow) * p.rowHeight + (p.rowHeight >= HIGH_ROW ? 1 : -1),
      Math.max(3, w * scale),
      Math.max(3, p.rowHeight >= HIGH_ROW ? p.rowHeight - 2 : p.rowHeight + 2),
    );
    context.lineWidth = 1;
  }

  #fitCanvas(): { ratio: number; context: CanvasRenderingContext2D | null } {
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [w, h] = [Math.round(this.#cssWidth * ratio), Math.round(this.height * ratio)];
    if (this.#canvas.width !== w || this.#canvas.height !== h) {
      this.#canvas.width = w;
      this.#canvas.height = h;
    }
    return { ratio, context: this.#canvas.getContext('2d') };
  }

  get drawnAt(): number {
    return this.#drawnAt;
  }

  close(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    clearTimeout(this.#readTimer);
    this.#reading?.abort();
    this.#host.look(undefined);
  }
}

let inks: { dark: boolean; ink: Ink } | undefined;
/** The colours of the page, read once per scheme. */
function inkOf(el: HTMLElement): Ink {
  const dark = isDark();
  if (inks?.dark === dark) return inks.ink;
  const style = getComputedStyle(el);
  const v = (name: string): string => style.getPropertyValue(name).trim();
  inks = {
    dark,
    ink: {
      ink: v('--ink'),
      muted: v('--muted'),
      line: v('--line-strong'),
      bad: v('--bad'),
      again: v('--again'),
      surface: v('--surface'),
      focus: v('--focus'),
    },
  };
  return inks.ink;
}
