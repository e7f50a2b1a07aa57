/** The ranks of the lesson as a ring, and the token on its way round it, clockwise. */
import type { LessonView } from '@mayfly/wire';
import type { Tone } from '../shared/tone.ts';
import { holderOf, lines } from './lesson-texts.ts';

const SIZE = 200;
const MIDDLE = SIZE / 2;
/** Of the ring, of a rank, and of the circle on which the token goes. */
const RADIUS = 64;
const RANK = 23;
const TOKEN_RADIUS = RADIUS + RANK + 5;

/** On the ring, clockwise from the top. */
const at = (degrees: number, radius = RADIUS): { x: number; y: number } => {
  const a = (degrees * Math.PI) / 180;
  return { x: Math.round(MIDDLE + radius * Math.sin(a)), y: Math.round(MIDDLE - radius * Math.cos(a)) };
};

interface Props {
  view: LessonView;
  /** By rank: what it does, in a colour, and whether it has a tab. */
  ranks: readonly { tone: Tone; here: boolean }[];
}

export function Ring({ view, ranks }: Props) {
  const step = 360 / ranks.length;
  const holder = holderOf(view);
  // It only ever grows: the token never goes back.
  const turned = 360 * Math.min(lines(view.output).length, view.steps) + step * holder;
  return (
    <svg
      className="lesson-ring"
      viewBox={`0 0 ${SIZE} ${SIZE}`}
      role="img"
      aria-label={`A ring of ${ranks.length} ranks. The token is at rank ${holder}.`}
    >
      <circle className="way" cx={MIDDLE} cy={MIDDLE} r={RADIUS} />
      {ranks.map(({ tone, here }, rank) => {
        const { x, y } = at(step * rank);
        const between = at(step * (rank + 0.5));
        return (
          <g key={rank} className={`tone-${tone}`} data-here={here}>
            <path
              className="arrow"
              d="M-4 -6L5 0L-4 6"
              transform={`translate(${between.x} ${between.y}) rotate(${step * (rank + 0.5)})`}
            />
            <circle className="rank" cx={x} cy={y} r={RANK} />
            <text x={x} y={y}>
              {rank}
            </text>
          </g>
        );
      })}
      <g className="token" style={{ transform: `rotate(${turned}deg)` }}>
        <circle cx={MIDDLE} cy={MIDDLE - TOKEN_RADIUS} r={7} />
      </g>
    </svg>
  );
}
