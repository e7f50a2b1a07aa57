/**
 * Mouse, pen and fingers on the lanes: drag moves time and rows, wheel scrolls rows or (with Ctrl, or over few rows)
 * zooms, two fingers zoom.
 */
import type { Chart } from './chart.ts';

export function pointers(el: HTMLCanvasElement, c: Chart): () => void {
  const down = new Map<number, { x: number; y: number }>();
  let spread = 0;
  const place = (e: PointerEvent | WheelEvent): { x: number; y: number } => {
    const b = el.getBoundingClientRect();
    return { x: e.clientX - b.left, y: e.clientY - b.top };
  };
  const msPerPx = (): number => c.span / c.plot.width;
  const spreadOf = (): number => {
    const [a, b] = [...down.values()];
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  };

  const onDown = (e: PointerEvent): void => {
    if (e.button !== 0) return;
    down.set(e.pointerId, place(e));
    spread = spreadOf();
    // A finger that only scrolls the page past the canvas is left to the page (touch-action: pan-y).
    if (e.pointerType === 'mouse') el.setPointerCapture(e.pointerId);
    c.setCursor(c.at(place(e).x, place(e).y));
  };
  const onMove = (e: PointerEvent): void => {
    const now = place(e);
    const before = down.get(e.pointerId);
    if (!before) {
      if (e.pointerType === 'mouse') c.setCursor(c.at(now.x, now.y));
      return;
    }
    down.set(e.pointerId, now);
    if (down.size === 2) {
      const wide = spreadOf();
      const [a, b] = [...down.values()];
      if (spread > 0 && wide > 0) c.zoomBy(spread / wide, c.timeAt((a!.x + b!.x) / 2));
      spread = wide;
      return;
    }
    c.panBy((before.x - now.x) * msPerPx());
    c.scrollRows((before.y - now.y) / c.rowHeight);
  };
  const onUp = (e: PointerEvent): void => {
    down.delete(e.pointerId);
    spread = spreadOf();
  };
  const onWheel = (e: WheelEvent): void => {
    const unit = e.deltaMode === 1 ? 16 : 1;
    const { x, y } = place(e);
    if (e.ctrlKey || e.metaKey || e.altKey) {
      e.preventDefault();
      if (e.altKey) c.zoomRows(Math.exp(-e.deltaY * unit * 0.003), c.at(x, y)?.rank);
      else c.zoomBy(Math.exp(e.deltaY * unit * 0.003), c.timeAt(x));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      c.panBy((e.deltaX || e.deltaY) * unit * msPerPx());
    } else if (document.activeElement === el) {
      // Who has put the focus here means the lanes; else the page scrolls past.
      e.preventDefault();
      c.zoomBy(Math.exp(e.deltaY * unit * 0.003), c.timeAt(x));
    }
  };
  const onLeave = (e: PointerEvent): void => {
    if (e.pointerType === 'mouse' && down.size === 0 && document.activeElement !== el) c.setCursor(undefined);
  };

  el.addEventListener('pointerdown', onDown);
  el.addEventListener('pointermove', onMove);
  el.addEventListener('pointerup', onUp);
  el.addEventListener('pointercancel', onUp);
  el.addEventListener('pointerleave', onLeave);
  el.addEventListener('wheel', onWheel, { passive: false });
  return () => {
    el.removeEventListener('pointerdown', onDown);
    el.removeEventListener('pointermove', onMove);
    el.removeEventListener('pointerup', onUp);
    el.removeEventListener('pointercancel', onUp);
    el.removeEventListener('pointerleave', onLeave);
    el.removeEventListener('wheel', onWheel);
  };
}
