/**
 * The live rank grid. Up to DETAILED ranks each have a whole card; beyond, each is a tile, and the chosen one's card
 * stands below. Cards and tiles draw only when their own rank changed (the query cache keeps unchanged parts
 * identical): a job of 256 ranks brings five views a second.
 */
import type { JobView, NodeView, TaskView } from '@mayfly/wire';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { memo, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { ago, bytes, count, percent } from '../../shared/format.ts';
import { Tag } from '../../shared/Tag.tsx';
import type { Tone } from '../../shared/tone.ts';
import { accepts } from '@mayfly/protocols/manifests';
import { checkpointTask, getNodes, killTask } from '../api.ts';
import { useMayChange, useServerNow } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import {
  computedText,
  doingText,
  phaseOf,
  placeText,
  rankWord,
  statesOf,
  tileText,
  uploadText,
  type JobPhase,
} from '../status-texts.ts';
import { arrowTarget } from './arrow-keys.ts';
import { waitsOf } from './notice/deadlock.ts';

const DETAILED = 12;

export function Ranks({ job }: { job: JobView }) {
  const phase = phaseOf(job);
  const live = phase !== 'ended';
  const may = useMayChange(job);
  const [only, setOnly] = useState<string>();
  const now = useServerNow(1000, live);
  const engines = useEngines(job.tasks);
  const waited = useMemo(() => waitedOf(job.error), [job.error]);
  const doing = (t: TaskView): string | undefined => (live ? doingText(t, now) : waited.get(t.task));
  if (job.tasks.length === 0) return null;
  return (
    <section className="stack" aria-label="Ranks">
      <div className="row nowrap">
        <h2>Ranks</h2>
        {job.size <= DETAILED && (
          <p className="legend-line muted small num">
            {[...statesOf(job.tasks, phase, true).map(([text, { n }]) => `${n} ${text}`), computedText(job)]
              .filter(Boolean)
              .join(' · ')}
          </p>
        )}
      </div>
      {job.size > DETAILED && <Chips key={job.id} tasks={job.tasks} phase={phase} only={only} choose={setOnly} />}
      {job.size <= DETAILED ? (
        <ul className="rank-cards">
          {job.tasks.map((t) => (
            <li key={t.task}>
              <RankCard
                job={job.id}
                task={t}
                phase={phase}
                may={may}
                images={accepts(job.protocol, 'checkpoints')}
                engine={engines?.get(t.node ?? '')}
                age={imageAge(t, now, live)}
                doing={doing(t)}
              />
            </li>
          ))}
        </ul>
      ) : (
        <Tiles
          job={job}
          phase={phase}
          may={may}
          engines={engines}
          now={now}
          doing={doing}
          only={only}
          showAll={() => setOnly(undefined)}
        />
      )}
    </section>
  );
}

/** What each rank of a deadlock waited for when its job ended. */
const waitedOf = (error: JobView['error']): ReadonlyMap<number, string> =>
  new Map(waitsOf(error)?.waits.map((w) => [w.rank, `waited ${w.text}`]));

type Engines = ReadonlyMap<string, string>;
const enginesOf = (nodes: NodeView[]): Engines => new Map(nodes.map((n) => [n.id, n.engine]));

/** By node: asked once, and again when a rank is at another one. */
function useEngines(tasks: readonly TaskView[]): Engines | undefined {
  const ids = useMemo(() => [...new Set(tasks.flatMap((t) => t.node ?? []))].sort().join(' '), [tasks]);
  return useQuery({
    queryKey: ['engines', ids],
    queryFn: getNodes,
    enabled: ids !== '',
    staleTime: Infinity,
    placeholderData: keepPreviousData,
    select: enginesOf,
  }).data;
}

interface ChipsProps {
  tasks: TaskView[];
  phase: JobPhase;
  only: string | undefined;
  choose: (only: string | undefined) => void;
}

/**
 * How many ranks do what: the grid in one line, for those who do not see it. Each is a button that shows only the ranks
 * of that state; one that was here keeps its place, and there is room for others while the job runs.
 */
function Chips({ tasks, phase, only, choose }: ChipsProps) {
  const [seen] = useState(() => new Map<string, Tone>());
  const now = new Map(statesOf(tasks, phase, false));
  for (const [text, { tone }] of now) seen.set(text, tone);
  return (
    <div
      className={`row legend num${phase === 'ended' ? '' : ' kept'}`}
      role="group"
      aria-label="Show only the ranks that are"
    >
      {[...seen].map(([text, tone]) => (
        <button
          key={text}
          className="chip"
          aria-pressed={only === text}
          onClick={() => choose(only === text ? undefined : text)}
        >
          <Tag tone={now.has(text) ? tone : 'quiet'}>{`${now.get(text)?.n ?? 0} ${text}`}</Tag>
        </button>
      ))}
    </div>
  );
}

const imageAge = (t: TaskView, now: number, live: boolean): string | undefined =>
  t.lastImageAt === undefined || !live ? undefined : ago(t.lastImageAt, now);

interface TilesProps {
  job: JobView;
  phase: JobPhase;
  may: boolean;
  engines: Engines | undefined;
  now: number;
  doing: (t: TaskView) => string | undefined;
  only: string | undefined;
  showAll: () => void;
}

function Tiles({ job, phase, may, engines, now, doing, only, showAll }: TilesProps) {
  const [picked, setChosen] = useState<number>();
  const live = phase !== 'ended';
  const chosen = picked ?? 0;
  const box = useRef<HTMLDivElement>(null);
  const task = job.tasks[chosen];
  const shown = only === undefined ? job.tasks : job.tasks.filter((t) => rankWord(t, phase).text === only);
  // Somebody always has the one stop for the Tab key.
  const at = Math.max(
    0,
    shown.findIndex((t) => t.task === chosen),
  );
  const onKeyDown = (e: KeyboardEvent<HTMLDivElement>) => {
    const to = arrowTarget(e.key, at, shown.length, columnsOf(box.current));
    if (to === undefined) return;
    e.preventDefault();
    setChosen(shown[to]!.task);
    (box.current?.children[to] as HTMLElement | undefined)?.focus();
  };
  return (
    <>
      {shown.length === 0 && (
        <p className="muted small">
          No ranks are “{only}” at the moment.{' '}
          <button className="button small ghost" onClick={showAll}>
            Show all
          </button>
        </p>
      )}
      <div className="tiles" role="listbox" aria-label="Ranks; choose one to see more" ref={box} onKeyDown={onKeyDown}>
        {shown.map((t, i) => {
          const w = rankWord(t, phase);
          return (
            <Tile
              key={t.task}
              task={t.task}
              text={tileText(t, phase)}
              tone={w.tone}
              chosen={t.task === chosen}
              stop={i === at}
              choose={setChosen}
            />
          );
        })}
      </div>
      {task && (
        // Near the tiles in view, once somebody has chosen one.
        <div className={picked === undefined ? 'chosen' : 'chosen near'}>
          <RankCard
            job={job.id}
            task={task}
            phase={phase}
            may={may}
            images={accepts(job.protocol, 'checkpoints')}
            engine={engines?.get(task.node ?? '')}
            age={imageAge(task, now, live)}
            doing={doing(task)}
          />
        </div>
      )}
    </>
  );
}

interface TileProps {
  task: number;
  text: string;
  tone: Tone;
  chosen: boolean;
  /** The Tab key stops here. */
  stop: boolean;
  choose: (task: number) => void;
}

/** One stop for the Tab key in the whole grid; arrows move within it. */
const Tile = memo(function Tile({ task, text, tone, chosen, stop, choose }: TileProps) {
  return (
    <div
      role="option"
      className={`tile tone-${tone}`}
      aria-selected={chosen}
      tabIndex={stop ? 0 : -1}
      onClick={() => choose(task)}
    >
      <b>
        <span className="visually-hidden">Rank </span>
        {task}
      </b>
      <span>{text}</span>
    </div>
  );
});

/** The share of its messages that went through the memory of its node. */
function localText(t: TaskView): string {
  const local = (t.localIn ?? 0) + (t.localOut ?? 0);
  return local === 0 ? '' : `${percent(local, t.messagesIn + t.messagesOut)} local`;
}

/** Tiles in the first row, as the browser has laid them out. */
function columnsOf(box: HTMLElement | null): number {
  const tiles = [...(box?.children ?? [])] as HTMLElement[];
  const below = tiles.findIndex((t) => t.offsetTop > (tiles[0]?.offsetTop ?? 0));
  return below < 0 ? Math.max(1, tiles.length) : below;
}

interface CardProps {
  job: string;
  task: TaskView;
  phase: JobPhase;
  /** Its buttons are offered. */
  may: boolean;
  /** Its protocol takes checkpoints. */
  images: boolean;
  /** Of its node. */
  engine: string | undefined;
  age: string | undefined;
  doing: string | undefined;
}

const RankCard = memo(function RankCard({ job, task: t, phase, may, images, engine, age, doing }: CardProps) {
  const word = rankWord(t, phase);
  const live = phase !== 'ended';
  const place = live ? placeText(t) : undefined;
  const kill = useMutation({ mutationFn: () => killTask(job, t.task) });
  const image = useMutation({ mutationFn: () => checkpointTask(job, t.task) });
  const node = t.nodeName ?? t.node;
  const more = [
    node === undefined && live && t.state !== 'done' ? 'without a node' : '',
    localText(t),
    engine ?? '',
    t.spawned ? `spawned by rank ${t.spawned.by}` : '',
    t.replaces === undefined ? '' : `in place of rank ${t.replaces}`,
  ].filter((x) => x !== '');
  // Before what may be cut: it alone shows that the rank came back.
  const life = t.incarnation > 0 ? [`incarnation ${t.incarnation}`] : [];
  const here = live && t.node !== undefined && t.state !== 'done' && t.state !== 'failed';
  return (
    <div className={`rank-card tone-${word.tone}`} data-testid={`rank-${t.task}`} data-state={t.state}>
      <div className="row apart">
        <h3>Rank {t.task}</h3>
        {/* At the right; another word is another tag, which has not moved. */}
        <Tag key={word.text} tone={word.tone}>
          {word.text}
        </Tag>
      </div>
      {(live || doing !== undefined) && <p className="doing muted small">{doing ?? '\u00a0'}</p>}
      {live && (
        <p className="doing-at muted small" title={place}>
          {place ?? '\u00a0'}
        </p>
      )}
      <dl className="rank-figures num">
        <div>
          <dt>In</dt>
          <dd>
            {count(t.messagesIn)} <span className="muted">{bytes(t.bytesIn)}</span>
          </dd>
        </div>
        <div>
          <dt>Out</dt>
          <dd>
            {count(t.messagesOut)} <span className="muted">{bytes(t.bytesOut)}</span>
          </dd>
        </div>
        {images && (
          <div>
            <dt>Checkpoints</dt>
            <dd>
              {t.images}{' '}
              {(t.uploading ?? age) !== undefined && (
                <span className="muted">{t.uploading && live ? uploadText(t.uploading) : age}</span>
              )}
            </dd>
          </div>
        )}
      </dl>
      {(live || node !== undefined || life.length + more.length > 0) && (
        <p className="node-name muted small" title={[...life, node, ...more].filter(Boolean).join(' · ')}>
          {/* Of another node or incarnation these are other words, not the same ones elsewhere. */}
          <span key={`${node} ${t.incarnation}`}>
            {life.length > 0 && t.node !== undefined && `${life.join()} · `}
            {t.node !== undefined && (
              <>
                <Link to="/dashboard/nodes/$id" params={{ id: t.node }}>
                  {node}
                </Link>
                {more.length > 0 && ' · '}
              </>
            )}
            {[...(t.node === undefined ? life : []), ...more].join(' · ') || '\u00a0'}
          </span>
        </p>
      )}
      {live && may && (
        <div className="foot">
          {/* Not `disabled`: that would take the focus from who presses it by key. */}
          {images && (
            <button
              type="button"
              className="button small ghost"
              aria-label={`Checkpoint rank ${t.task}`}
              aria-disabled={!here || image.isPending}
              onClick={() => here && !image.isPending && image.mutate()}
            >
              Checkpoint
            </button>
          )}
          <button
            type="button"
            className="button small danger"
            aria-label={`Kill rank ${t.task}`}
            aria-disabled={!here || kill.isPending}
            onClick={() => here && !kill.isPending && kill.mutate()}
          >
            Kill
          </button>
        </div>
      )}
      <Problem error={kill.error ?? image.error} />
    </div>
  );
});
