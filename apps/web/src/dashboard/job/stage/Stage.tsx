/**
 * The stage: the tabs of a job as small windows with its ranks in them, live. A rank has the colour of what it does; a
 * lost one leaves its window, waits in the wings, and floats to the next tab, where it replays. Dots are messages that
 * were logged in the last second, one for each of the busiest pairs; a ring is a checkpoint. Its height is fixed, so
 * nothing around it moves, and who wants no motion gets none. In words it is the label, and the cards below.
 */
import type { JobView } from '@mayfly/wire';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { getMatrix } from '../../api.ts';
import { useLive } from '../../context.tsx';
import { hasEnded, phaseOf, rankWord } from '../../status-texts.ts';
import { cellsFrom } from '../matrix/grid.ts';
import { flowsOf, placesOf, seatsOf, settled, stageText, type Flow, type Place, type Seat } from './stage.ts';
import './stage.css';

/** More ranks than this are a grid of tiles only. */
export const MOST_RANKS = 64;
/** Dots of a second. */
const MOST_DOTS = 24;
const DOT_MS = 900;

/** Sizes in px: of a rank with its gap, of a window. */
const CELL = 40;
const COLUMNS = 4;
const WINDOW = { wide: COLUMNS * CELL + 16, head: 30, gap: 14 };
const WINGS = 52;

export function Stage({ job }: { job: JobView }) {
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(0);
  /** What it remembers: where ranks were, and who sits where. */
  const [memory] = useState(() => ({ last: new Map(), seats: [] as Seat[], rows: 1 }));
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    const size = new ResizeObserver(() => setWide(el.clientWidth));
    size.observe(el);
    return () => size.disconnect();
  }, []);
  const phase = phaseOf(job);
  const tasks = settled(memory.last, job.tasks, phase === 'ended');
  const seats = (memory.seats = seatsOf(memory.seats, tasks));
  const places = placesOf(seats, tasks);
  const words = job.tasks.map((t) => rankWord(t, phase));
  for (const p of places)
    if (p.seat !== undefined) memory.rows = Math.max(memory.rows, Math.ceil((p.index + 1) / COLUMNS));
  const columns = Math.max(1, Math.floor((wide + WINDOW.gap) / (WINDOW.wide + WINDOW.gap)));
  const high = WINDOW.head + memory.rows * CELL + 10;
  const corner = (seat: number): [number, number] => [
    (seat % columns) * (WINDOW.wide + WINDOW.gap),
    WINGS + Math.floor(seat / columns) * (high + WINDOW.gap),
  ];
  /** Middle of a rank. */
  const middle = (p: Place): [number, number] => {
    if (p.seat === undefined) return [100 + p.index * CELL + CELL / 2, WINGS / 2 - 4];
    const [x, y] = corner(p.seat);
    return [
      x + 8 + (p.index % COLUMNS) * CELL + CELL / 2,
      y + WINDOW.head + Math.floor(p.index / COLUMNS) * CELL + CELL / 2,
    ];
  };
  const spots = places.map(middle);
  const dots = useRef<HTMLDivElement>(null);
  const now = useRef(spots);
  useEffect(() => {
    now.current = spots;
  });
  useFlows(job, (flows) => {
    if (!dots.current || !moves()) return;
    for (const { from, to } of flows) {
      const [a, b] = [now.current[from], now.current[to]];
      if (a && b) fly(dots.current, a, b);
    }
  });
  return (
    <section className="stack" aria-label="Stage">
      <div className="stage" ref={box} data-testid="stage" role="img" aria-label={stageText(seats, places, words)}>
        <span className="stage-wings muted small">Without a tab</span>
        {seats.map((s, i) => {
          const [x, y] = corner(i);
          return (
            <div
              key={`${i} ${s.node}`}
              className={s.left ? 'stage-window left' : 'stage-window'}
              style={{ width: WINDOW.wide, height: high, transform: `translate(${x}px, ${y}px)` }}
            >
              <b>{s.name}</b>
            </div>
          );
        })}
        {places.map((p, i) => (
          <Rank key={p.task} task={p.task} at={spots[i]!} tone={words[i]!.tone} images={job.tasks[i]!.images} />
        ))}
        <div ref={dots} />
      </div>
      <p className="stage-legend muted small">
        <i className="tone-work" /> computes <i className="tone-wait" /> waits <i className="tone-again" /> replays or
        saves <i className="tone-quiet" /> without a tab <i className="tone-good" /> done. Dots are messages.
      </p>
    </section>
  );
}

interface RankProps {
  task: number;
  at: [number, number];
  tone: string;
  images: number;
}

function Rank({ task, at: [x, y], tone, images }: RankProps) {
  const el = useRef<HTMLDivElement>(null);
  const known = useRef(images);
  useEffect(() => {
    if (images > known.current && moves())
      el.current?.animate([{ outlineOffset: '0px' }, { outlineOffset: '9px', outlineColor: 'transparent' }], {
        duration: DOT_MS,
      });
    known.current = images;
  }, [images]);
  return (
    <div
      ref={el}
      className={`stage-rank tone-${tone}`}
      style={{ transform: `translate(${x - 17}px, ${y - 17}px)` }}
      data-stage-rank={task}
    >
      {task}
    </div>
  );
}

const moves = (): boolean =>
  document.visibilityState === 'visible' && !matchMedia('(prefers-reduced-motion: reduce)').matches;

function fly(into: HTMLElement, [ax, ay]: [number, number], [bx, by]: [number, number]): void {
  const dot = document.createElement('i');
  dot.className = 'stage-dot';
  into.append(dot);
  const way = dot.animate(
    [{ transform: `translate(${ax - 4}px, ${ay - 4}px)` }, { transform: `translate(${bx - 4}px, ${by - 4}px)` }],
    { duration: DOT_MS, easing: 'ease-in-out' },
  );
  way.onfinish = way.oncancel = () => dot.remove();
}

/** What ranks sent each other, about once a second while the job runs. */
function useFlows(job: JobView, show: (flows: Flow[]) => void): void {
  const live = useLive();
  const newest = useRef(show);
  useEffect(() => {
    newest.current = show;
  });
  const ended = hasEnded(job.state);
  const { id, size } = job;
  useEffect(() => {
    if (ended) return;
    let over = false;
    /** By pair; undefined: not read yet, and news alone do not tell what is new. */
    let known: Map<number, number> | undefined;
    const span = [0, size - 1] as [number, number];
    const look = { src: span as never, dst: span as never, bins: MOST_RANKS };
    const read = () => {
      known = undefined;
      getMatrix(id, look).then(
        (m) => {
          if (!over) flowsOf((known = new Map()), m.cells, size, true, 0);
        },
        () => undefined, // no dots then; the page says elsewhere that the server is away
      );
    };
    read();
    const off = live.look(
      { job: id, matrix: look },
      {
        matrix: (n) => {
          if (known && n.binned === 1) newest.current(flowsOf(known, cellsFrom(n.cells), size, false, MOST_DOTS));
        },
        again: read,
      },
    );
    return () => {
      over = true;
      off();
    };
  }, [live, id, size, ended]);
}
