/**
 * One chart on its ground: title and hint above, what the full height is, an SVG that is stretched over all of it, and
 * the two ends of its time axis.
 */
import type { PointerEvent, ReactNode } from 'react';
import { HEIGHT } from './plot.ts';
import './charts.css';

interface PlotProps {
  title: string;
  hint: ReactNode;
  top: string;
  label: string;
  /** What stands at the ends of the axis. */
  from: string;
  to: string;
  /** Columns. */
  width: number;
  onPointer?: (e: PointerEvent<HTMLDivElement>) => void;
  children: ReactNode;
}

export function Plot({ title, hint, top, label, from, to, width, onPointer, children }: PlotProps) {
  return (
    <figure className="chart">
      <figcaption>
        <b>{title}</b> <span className="muted small">{hint}</span>
      </figcaption>
      <div className="plot" onPointerMove={onPointer} onPointerDown={onPointer}>
        <span className="plot-top muted num">{top}</span>
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {children}
        </svg>
      </div>
      <div className="row apart muted num plot-times">
        <span>{from}</span>
        <span>{to}</span>
      </div>
    </figure>
  );
}
