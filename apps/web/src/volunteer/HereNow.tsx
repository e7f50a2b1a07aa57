/**
 * The ranks that are in this tab, a picture of what they make, and what was given so far. Each has its room before it
 * is there (a line per slot, a frame for the picture), so that nothing moves when it comes.
 */
import type { Gave, RankSnapshot, VolunteerSnapshot } from '@mayfly/node/page';
import { useEffect, useState } from 'react';
import { ago, bytes, count, duration, elapsed } from '../shared/format.ts';
import { draw, pictureKind, type Drawn } from '../shared/pictures.ts';
import { Tag } from '../shared/Tag.tsx';
import { useNow } from '../shared/useNow.ts';
import { useMemory } from './memory.ts';
import { keyOf, type Rate } from './rates.ts';
import * as session from './session.ts';
import { abouts, rankWords, type Given } from './tab-texts.ts';

interface NowProps {
  snapshot: VolunteerSnapshot;
  given: Given;
  rates: ReadonlyMap<string, Rate>;
  seats: readonly (RankSnapshot | undefined)[];
}

export function HereNow({ snapshot, given, rates, seats }: NowProps) {
  const here = snapshot.ranks.length > 0;
  const now = useNow(1000, here);
  const measured = useMemory(here);
  // The browser measures now and then, and not every thread; what ranks have is known at once.
  const memory = Math.max(
    measured ?? 0,
    snapshot.ranks.reduce((sum, r) => sum + (r.memory ?? 0), 0),
  );
  const quiet =
    (snapshot.phase === 'off' || snapshot.phase === 'refused') && given.messages === 0 && given.finished === 0;
  if (quiet) return null;
  const sum = [...rates.values()].reduce((s, r) => ({ messages: s.messages + r.messages, bytes: s.bytes + r.bytes }), {
    messages: 0,
    bytes: 0,
  });
  return (
    <section className="card here-now" aria-label="This tab now">
      <h2>This tab now</h2>
      <div className="here-head">
        <dl className="facts" aria-label="Figures of this tab">
          <div>
            <dt>Messages</dt>
            <dd>
              {count(given.messages)} <span className="visually-hidden">, now </span>
              <span className="muted small">{perSecond(sum.messages)}/s</span>
            </dd>
          </div>
          <div>
            <dt>Data</dt>
            <dd>
              {bytes(given.bytes)} <span className="visually-hidden">, now </span>
              <span className="muted small">{bytes(Math.round(sum.bytes))}/s</span>
            </dd>
          </div>
          <div>
            <dt>Memory</dt>
            <dd>{memory === 0 ? '–' : bytes(memory)}</dd>
          </div>
          <div>
            <dt>To the server</dt>
            <dd>{snapshot.rttMs === undefined ? '–' : duration(snapshot.rttMs)}</dd>
          </div>
        </dl>
        <SoFar rank={snapshot.ranks[0]} />
      </div>
      <div className="work-for small" tabIndex={0} role="group" aria-label="What the work is for">
        {!here && <p className="muted">Once work arrives, its purpose appears here.</p>}
        {abouts(snapshot.ranks).map(([job, about]) => (
          <p key={job}>
            {about === undefined ? (
              <span className="muted">The owner of “{job}” has not described its purpose.</span>
            ) : (
              <>
                <strong>{job}</strong> {about}
              </>
            )}
          </p>
        ))}
      </div>
      <ul className="ranks-here" aria-label="Slots of this tab">
        {Array.from({ length: Math.max(seats.length, Math.min(snapshot.slots, SHOWN_FREE)) }, (_, i) => {
          const r = seats[i];
          return (
            <li key={i} className={r ? undefined : 'muted'}>
              {r ? (
                <RankHere rank={r} rate={rates.get(keyOf(r))} now={now} />
              ) : snapshot.phase === 'idle' || snapshot.phase === 'working' ? (
                'Free slot, waiting for a rank.'
              ) : (
                'No rank is here.'
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Of free slots. */
const SHOWN_FREE = 4;

const perSecond = (n: number): string => (n > 0 && n < 10 ? n.toFixed(1) : count(n));

function RankHere({ rank: r, rate, now }: { rank: RankSnapshot; rate: Rate | undefined; now: number }) {
  const word = rankWords(r);
  const progress = r.activity?.progress;
  const image =
    r.imageAt !== undefined
      ? `checkpoint ${ago(r.imageAt, now)}`
      : r.canImage
        ? 'no checkpoint yet'
        : 'no checkpoint; restarts from its log';
  return (
    <>
      <div className="line-here">
        <strong>
          Rank {r.task} <span className="muted">of {r.size}</span>
          {r.incarnation > 0 && <span className="muted small"> · incarnation {r.incarnation}</span>}
          {progress !== undefined && <span className="muted small num"> · {Math.floor(progress * 100)} %</span>}
        </strong>
        <Tag tone={word.tone}>{word.text}</Tag>
      </div>
      <div className="line-here muted small num">
        <span className="job-of">
          {r.jobName ?? r.job} · <span className="mono">{r.program}</span>
        </span>
        <span>{image}</span>
      </div>
      <div className="line-here muted small num">
        <span>
          {count(r.messagesIn)} in, {count(r.messagesOut)} out · {bytes(r.bytesIn + r.bytesOut)}
        </span>
        <span>
          {perSecond(rate?.messages ?? 0)} messages/s · {elapsed(now - r.since)}
        </span>
      </div>
    </>
  );
}

/** Between two looks at the picture, ms. */
const LOOK_MS = 3000;

/** What the job of a rank here has drawn so far, if it draws. */
function SoFar({ rank }: { rank: RankSnapshot | undefined }) {
  const job = rank?.job;
  const [shown, setShown] = useState<Drawn & { path: string }>();
  useEffect(() => {
    setShown(undefined);
    if (job === undefined) return;
    let alive = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: string | undefined;
    const look = async () => {
      const found =
        document.visibilityState === 'hidden' ? undefined : await session.picture(job).catch(() => undefined);
      const kind = found && pictureKind(found.path);
      const drawn = kind && (await draw(found.bytes, kind).catch(() => undefined));
      if (!alive) {
        if (drawn) URL.revokeObjectURL(drawn.url);
        return;
      }
      if (drawn) {
        const old = last;
        last = drawn.url;
        setShown({ ...drawn, path: found.path });
        if (old) setTimeout(() => URL.revokeObjectURL(old), 1000);
      }
      timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      alive = false;
      clearTimeout(timer);
      if (last) URL.revokeObjectURL(last);
    };
  }, [job]);
  return (
    <figure className="so-far">
      {shown && job ? (
        <img src={shown.url} alt={`${shown.path}: the result of ${rank.jobName ?? job} so far`} />
      ) : (
        <div className="no-picture" aria-hidden="true" />
      )}
      <figcaption className="muted small">{shown && job ? 'The result so far' : 'No picture yet'}</figcaption>
    </figure>
  );
}

/** What this browser has given, over all its visits. */
export function Gifts({ sum, on }: { sum: Gave; on: boolean }) {
  if (!on && sum.usefulMs + sum.replayedMs === 0 && sum.jobs === 0) return null;
  return (
    <section className="card" aria-label="What you gave">
      <h2>What you gave</h2>
      <dl className="facts" aria-label="Over all visits of this browser">
        <div>
          <dt>New work</dt>
          <dd>{elapsed(sum.usefulMs)}</dd>
        </div>
        <div>
          <dt>Replayed after losses</dt>
          <dd>{elapsed(sum.replayedMs)}</dd>
        </div>
        <div>
          <dt>Ranks finished</dt>
          <dd>{count(sum.finished)}</dd>
        </div>
        <div>
          <dt>Jobs</dt>
          <dd>{count(sum.jobs)}</dd>
        </div>
      </dl>
      <p className="hint">
        Total rank time in this browser, across visits, including time spent waiting for other ranks. Replayed work
        repeats what a lost rank had already done, to bring it back to where it was.
      </p>
    </section>
  );
}
