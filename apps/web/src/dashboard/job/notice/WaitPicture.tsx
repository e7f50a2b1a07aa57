/** A deadlock as a drawing: an arrow from each rank to the one that it waits for. The list beside it says the same. */
import { drawingOf, RADIUS, type Waits } from './deadlock.ts';

export function WaitPicture({ of }: { of: Waits }) {
  const drawing = drawingOf(of);
  if (!drawing) return null;
  const { size, circles, arrows } = drawing;
  const { cycle } = of;
  return (
    <figure className="wait-picture">
      <svg
        role="img"
        aria-label={arrows.map((a) => `rank ${a.from} waits for rank ${a.to}`).join(', ')}
        width={size}
        height={size}
        viewBox={`0 0 ${size} ${size}`}
        data-testid="wait-picture"
      >
        {arrows.map((a) => (
          <g key={a.from} className={a.ring ? 'wait-arrow ring' : 'wait-arrow'}>
            <path d={a.line} />
            <path d={a.head} className="head" />
          </g>
        ))}
        {circles.map((c) => (
          <g key={c.rank} className={`wait-rank${c.ring ? ' ring' : ''}${c.waits ? '' : ' ended'}`}>
            <circle cx={c.x} cy={c.y} r={RADIUS} />
            <text x={c.x} y={c.y}>
              {c.rank}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className="muted small">
        An arrow leads from a rank to the rank that it waits for.
        {cycle.length > 0 && ' Red: ranks that wait for each other, so none of them can go on.'}
        {circles.some((c) => !c.waits) && ' Dashed: a rank that has ended.'}
      </figcaption>
    </figure>
  );
}
