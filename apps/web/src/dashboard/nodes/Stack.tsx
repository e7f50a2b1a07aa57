/**
 * What slots were used for, as a picture: kinds stacked by column; and the kinds with their shares, which are its
 * legend, too.
 */
import { useMemo } from 'react';
import { percent } from '../../shared/format.ts';
import { LOOKS, SHOWN, pictureText, stackOf, type SlotLook } from './slots.ts';
import { HEIGHT } from '../job/charts/plot.ts';
import '../job/timeline/kinds.css';
import './nodes.css';

const colours = (l: SlotLook) => ({ ['--light' as string]: l.light, ['--dark' as string]: l.dark });

/** `top`: slots at full height. Goes into an SVG of SHOWN × HEIGHT. */
export function Stack({ cells, top }: { cells: ArrayLike<number>; top: number }) {
  const paths = useMemo(() => stackOf(cells, top), [cells, top]);
  return paths.map(({ look, d }) => (
    <path key={look.kind} className="stacked" data-kind={look.kind} style={colours(look)} d={d} />
  ));
}

/** As wide as it is from the first paint on. */
export function Spark({
  cells,
  top,
  widthMs,
  className = 'spark',
}: {
  cells: ArrayLike<number> | undefined;
  top: number;
  widthMs: number;
  className?: string;
}) {
  return (
    <svg
      className={className}
      viewBox={`0 0 ${SHOWN} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={pictureText(cells, widthMs)}
    >
      {cells && <Stack cells={cells} top={top} />}
    </svg>
  );
}

/** Every kind in its place, with its share where there is one. */
export function Shares({ of, label }: { of: { by: readonly number[]; known: number } | undefined; label: string }) {
  return (
    <ul className="slot-kinds num" aria-label={label}>
      {LOOKS.map((l, k) => (
        <li key={l.kind} title={l.title}>
          <i className="swatch" style={colours(l)} />
          {l.label} <span className="muted">{of && of.by[k]! > 0 ? percent(of.by[k]!, of.known) : '–'}</span>
        </li>
      ))}
    </ul>
  );
}
