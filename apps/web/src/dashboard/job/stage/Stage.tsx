/**
 * The stage: the tabs of a job as small windows with its ranks in them, live. A rank has the colour of what it does; a
 * lost one leaves its window, waits in the wings, and floats to the next tab, where it replays. Dots are messages that
 * were logged in the last second, one for each of the busiest pairs; a ring is a checkpoint. While the job runs its
 * height is fixed, so nothing around it moves, and who wants no motion gets none. In words it is the label, and the
 * cards below.
 */
import type { JobView, TaskView } from '@mayfly/wire';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { getMatrix } from '../../api.ts';
import { useLive } from '../../context.tsx';
import { hasEnded, phaseOf, rankWord } from '../../status-texts.ts';
import { cellsFrom } from '../matrix/grid.ts';
import {
  cornerOf,
  flowsOf,
  gridOf,
  middleOf,
  placesOf,
  seatsOf,
  settled,
  stageText,
  type Flow,
  type Seat,
} from './stage.ts';
import './stage.css';

/** More ranks than this are a grid of tiles only. */
export const MOST_RANKS = 64;
/** Dots of a second. */
const MOST_DOTS = 24;
const DOT_MS = 900;
/** The way of a dot stays to be seen for longer than the dot. */
const WAY_MS = 1600;

export function Stage({ job }: { job: JobView }) {
  const section = useRef<HTMLElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState(0);
  /** What it remembers: where ranks were, and who sits where. */
  const [memory] = useState(() => ({ last: new Map(), seats: [] as Seat[], most: 1 }));
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
  for (const p of places) if (p.seat !== undefined) memory.most = Math.max(memory.most, p.index + 1);
  const grid = gridOf(wide, seats.length, memory.most);
  const spots = places.map((p) => middleOf(p, grid));
  // What a job leaves takes no more room than it needs.
  const height = phase === 'ended' ? cornerOf(Math.max(0, seats.length - 1), grid)[1] + grid.high + 2 : undefined;
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
    <section className="stack stage-section" aria-label="Stage" ref={section}>
      <div
        className="stage"
        ref={box}
        style={{ height }}
        data-testid="stage"
        role="img"
        aria-label={stageText(seats, places, words)}
      >
        {places.some((p) => p.seat === undefined) && <span className="stage-wings muted small">Without a tab</span>}
        {seats.map((s, i) => {
          const [x, y] = cornerOf(i, grid);
          return (
            <div
              key={`${i} ${s.node}`}
              className={s.left ? 'stage-window left' : 'stage-window'}
              style={{ width: grid.wide, height: grid.high, transform: `translate(${x}px, ${y}px)` }}
            >
              <b>{s.name}</b>
            </div>
          );
        })}
        <div ref={dots} />
        {places.map((p, i) => (
          <Rank key={p.task} of={job.tasks[i]!} at={spots[i]!} tone={words[i]!.tone} />
        ))}
      </div>
      <div className="row nowrap stage-foot">
        <p className="stage-legend muted small">
          <i className="tone-work" /> computes <i className="tone-wait" /> waits <i className="tone-again" /> replays or
          saves <i className="tone-quiet" /> without a tab <i className="tone-good" /> done. Dots are messages; a small
          number counts the lives of a rank that was lost.
        </p>
        {document.fullscreenEnabled && (
          <button
            type="button"
            className="button small ghost"
            onClick={() => void section.current?.requestFullscreen()}
          >
            Show large
          </button>
        )}
      </div>
    </section>
  );
}

interface RankProps {
  of: TaskView;
  /** Its middle. */
  at: [number, number];
  tone: string;
}

function Rank({ of: { task, images, incarnation }, at: [x, y], tone }: RankProps) {
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
      data-lives={incarnation > 0 ? incarnation + 1 : undefined}
    >
      {task}
    </div>
  );
}

const moves = (): boolean =>
  document.visibilityState === 'visible' && !matchMedia('(prefers-reduced-motion: reduce)').matches;

function fly(into: HTMLElement, [ax, ay]: [number, number], [bx, by]: [number, number]): void {
  const show = (what: string, frames: Keyframe[], options: KeyframeAnimationOptions, length = ''): void => {
    const el = document.createElement('i');
    el.className = what;
    el.style.width = length;
    into.append(el);
    const shown = el.animate(frames, options);
    shown.onfinish = shown.oncancel = () => el.remove();
  };
  const way = `translate(${ax}px, ${ay}px) rotate(${Math.atan2(by - ay, bx - ax)}rad)`;
  const fades = [{ opacity: 0.25 }, { opacity: 0 }].map((frame) => ({ ...frame, transform: way }));
  show('stage-way', fades, { duration: WAY_MS, easing: 'ease-in' }, `${Math.hypot(bx - ax, by - ay)}px`);
  const dot = ([x, y]: [number, number]): Keyframe => ({ transform: `translate(${x - 4}px, ${y - 4}px)` });
  show('stage-dot', [dot([ax, ay]), dot([bx, by])], { duration: DOT_MS, easing: 'ease-in-out' });
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
