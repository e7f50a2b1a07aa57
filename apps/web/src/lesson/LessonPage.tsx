/** `/lesson`: “What happens when a tab closes?”, with a real job in this very page. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { LESSON_LAPS, LESSON_RANKS, lessonAnswer, type LessonView } from '@mayfly/wire';
import { plural } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import type { Tone } from '../shared/tone.ts';
import { obstacle, surroundings } from '../volunteer/support.ts';
import { BEFORE, Lesson, type LessonNode, type LessonState } from './lesson.ts';
import { lines, nextText } from './lesson-texts.ts';
import { Ring } from './Ring.tsx';
import './lesson.css';

const inTheWay = obstacle(surroundings());
const ANSWER = lessonAnswer();

export function LessonPage() {
  const [state, setState] = useState<LessonState>(BEFORE);
  const lesson = useRef<Lesson>(undefined);
  const [room, setRoom] = useState(() => new URLSearchParams(location.search).get('room') ?? '');
  useEffect(() => {
    const leave = () => lesson.current?.leave();
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('pagehide', leave);
      leave();
    };
  }, []);
  const begin = () => {
    lesson.current?.leave();
    setState(BEFORE);
    lesson.current = new Lesson(setState);
    void lesson.current.begin(room.trim());
  };
  const { view, nodes, phase } = state;
  return (
    <div className="lesson stack">
      <title>What happens when a tab closes? – Mayfly</title>
      <div>
        <h1>What happens when a tab closes?</h1>
        <p className="muted">
          A small job, run by this very page: {LESSON_RANKS} ranks pass a number round a ring. Each adds what it gets to
          a sum, which only its own memory holds, and sends the sum on. You start each lap, close the tab of any rank in
          between, and see whether the answer changes. Everything below comes from the server and the ranks; nothing is
          staged.
        </p>
      </div>
      {inTheWay ? (
        <section className="notice tone-warn">
          <h2>This page cannot compute here: {inTheWay.title}</h2>
          <p>{inTheWay.why}</p>
        </section>
      ) : phase === 'before' || phase === 'broken' ? (
        <>
          {phase === 'broken' && (
            <p className="notice tone-bad" role="alert">
              {state.error}
            </p>
          )}
          <form
            className="stack"
            onSubmit={(e) => {
              e.preventDefault();
              begin();
            }}
          >
            {state.asksForCode && (
              <label className="field">
                <span>Join code</span>
                <input value={room} maxLength={64} onChange={(e) => setRoom(e.target.value)} />
              </label>
            )}
            <p>
              <button className="button primary big">{phase === 'broken' ? 'Begin again' : 'Begin the lesson'}</button>
            </p>
          </form>
        </>
      ) : (
        <>
          {view ? (
            <Picture
              view={view}
              nodes={nodes}
              over={phase === 'over'}
              onClose={(name) => void lesson.current?.closeNode(name)}
            />
          ) : (
            <p className="card">The job is being prepared.</p>
          )}
          {view && phase === 'on' && (
            <NextStep
              view={view}
              nodes={nodes}
              onStep={() => void lesson.current?.step()}
              onOpen={() => void lesson.current?.openNode()}
            />
          )}
          {view && phase === 'over' && <End view={view} onAgain={begin} />}
          <section className="card" aria-label="What happened">
            <h2>What happened</h2>
            <ol className="story" aria-live="polite">
              {state.story.map((s, i) => (
                <li key={i}>{s}</li>
              ))}
            </ol>
          </section>
        </>
      )}
    </div>
  );
}

type Rank = LessonView['ranks'][number];

function wordOf(r: Rank, here: boolean): { text: string; tone: Tone } {
  if (r.state === 'done') return { text: 'done', tone: 'good' };
  if (!here) return { text: 'has no tab', tone: 'bad' };
  if (r.state !== 'running') return { text: r.incarnation > 0 ? 'coming back' : 'loading', tone: 'again' };
  if (r.activity === 'replaying') return { text: 'replaying its log', tone: 'again' };
  return r.rank === 0
    ? { text: 'waiting for you or the token', tone: 'wait' }
    : { text: 'waiting for the token', tone: 'wait' };
}

function Picture({
  view,
  nodes,
  over,
  onClose,
}: {
  view: LessonView;
  nodes: readonly LessonNode[];
  over: boolean;
  onClose: (name: string) => void;
}) {
  const ranks = view.ranks.map((r) => {
    const node = nodes.find((n) => n.rank === r.rank);
    return { ...r, node, here: node !== undefined || over, ...wordOf(r, node !== undefined) };
  });
  return (
    <section className="card lesson-picture" aria-label="Ranks and their logs">
      <Ring view={view} ranks={ranks} />
      <div className="lesson-heads" aria-hidden="true">
        <span>Tabs of this page</span>
        <span>Channel Memory, on the server</span>
      </div>
      <ul className="lesson-ranks">
        {ranks.map(({ node, text, tone, ...r }) => {
          // What is gone has read nothing; whoever comes next begins at the first message.
          const read = node || over || r.state === 'done' ? Math.min(r.read, r.logged) : 0;
          return (
            <li key={r.rank}>
              <div className={`lesson-tab tone-${tone}`} data-open={node !== undefined}>
                <div className="row apart">
                  <strong>
                    Rank {r.rank}
                    {r.incarnation > 0 && <span className="muted small"> · incarnation {r.incarnation}</span>}
                  </strong>
                  <Tag tone={tone}>{text}</Tag>
                </div>
                <button className="button small" disabled={!node || over} onClick={() => node && onClose(node.name)}>
                  {node ? `Close ${node.name}, with rank ${r.rank}` : 'No tab'}
                </button>
              </div>
              <div>
                <p className="small">
                  Log of rank {r.rank}: {plural(r.logged, 'message')}, {read} read
                </p>
                <div className="lesson-log" aria-hidden="true">
                  {Array.from({ length: r.logged }, (_, i) => (
                    <i key={i} data-read={i < read} />
                  ))}
                </div>
              </div>
            </li>
          );
        })}
      </ul>
      <p className="hint">
        Rank 0’s log also has the lines that you send it. A filled square is a message that the current rank has read.
      </p>
    </section>
  );
}

function NextStep({
  view,
  nodes,
  onStep,
  onOpen,
}: {
  view: LessonView;
  nodes: readonly LessonNode[];
  onStep: () => void;
  onOpen: () => void;
}) {
  const missing = nodes.length < LESSON_RANKS;
  const laps = lines(view.output).length;
  const settled = !missing && laps === view.steps && view.ranks.every((r) => r.state === 'running');
  return (
    <section className="card" aria-label="Your next step">
      <h2>Your next step</h2>
      <p role="status">
        {nextText(
          view,
          nodes.flatMap((n) => n.rank ?? []),
        )}
      </p>
      <div className="row">
        <button
          className="button primary"
          onClick={onStep}
          disabled={view.steps >= LESSON_LAPS || (!settled && !missing) || view.steps > laps}
        >
          Send the token round
        </button>
        <button className="button" onClick={onOpen} disabled={!missing}>
          Open another tab
        </button>
      </div>
    </section>
  );
}

function End({ view, onAgain }: { view: LessonView; onAgain: () => void }) {
  const said = lines(view.output).at(-1);
  const same = said === String(ANSWER.at(-1)) && view.state === 'done';
  const lost = view.faults.length;
  return (
    <section className={`notice tone-${same ? 'good' : 'bad'}`} aria-label="The end" role="status">
      <h2>{same ? 'The answer is the same' : 'The job did not end as expected'}</h2>
      {same ? (
        <p>
          Rank 0 printed {said}. This page computed the same sums without ranks or messages: {ANSWER.at(-1)}.{' '}
          {lost === 0
            ? 'No tab was closed. Run it again and close some.'
            : `${lost === 1 ? 'One rank was' : `${lost} ranks were`} lost on the way; the answer was not.`}
        </p>
      ) : (
        <p>{view.error ?? `It is ${view.state}, and rank 0 printed ${said ?? 'nothing'}.`}</p>
      )}
      <p className="row">
        <button className="button" onClick={onAgain}>
          Once more
        </button>
        <Link to="/volunteer" className="button">
          Volunteer this tab
        </Link>
      </p>
    </section>
  );
}
