/**
 * One chart on its ground: title and hint above, its scale at the left with a line for each number, an SVG that is
 * stretched over all of the ground, and times below it.
 */
import type { PointerEvent, ReactNode } from 'react';
import { HEIGHT, type Scale } from './plot.ts';
import './charts.css';

interface PlotProps {
  title: string;
  hint: ReactNode;
  scale: Scale;
  /** A number of the scale with its unit. */
  say: (n: number) => string;
  /** In place of the scale and of what there is to draw. */
  nothing?: string | undefined;
  label: string;
  /** What stands along the axis, from its beginning to its end, and what it is. */
  times: readonly string[];
  axis: string;
  /** Columns. */
  width: number;
  onPointer?: (e: PointerEvent<HTMLDivElement>) => void;
  children?: ReactNode;
}

export function Plot({ title, hint, scale, say, nothing, label, times, axis, width, onPointer, children }: PlotProps) {
  const { max } = scale;
  const lines = nothing === undefined ? scale.lines : [];
  return (
    <figure className="chart">
      <figcaption>
        <b>{title}</b> <span className="muted small">{hint}</span>
      </figcaption>
      <div className="plot-scale muted num" aria-hidden="true">
        {lines.map((n) => (
          // A place of the scale: its number changes, and no number moves.
          <span key={(100 * n) / max} style={{ bottom: `${(100 * n) / max}%` }}>
            {say(n)}
          </span>
        ))}
      </div>
      <div className="plot" onPointerMove={onPointer} onPointerDown={onPointer}>
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          <path className="grid" d={lines.map((n) => `M0 ${HEIGHT - (HEIGHT * n) / max}H${width}`).join('')} />
          {children}
        </svg>
        {nothing !== undefined && <span className="plot-nothing muted small">{nothing}</span>}
      </div>
      <div className="muted num plot-times">
        {times.map((t, i) => (
          <span key={i}>{t}</span>
        ))}
      </div>
      <p className="muted plot-axis">{axis}</p>
    </figure>
  );
}
