/** The ranks that are in this tab, what it gave so far, and its history. */
import type { VolunteerEvent, VolunteerSnapshot } from '@mayfly/node/page';
import { useState } from 'react';
import { bytes, clock, count, elapsed, plural } from '../shared/format.ts';
import { Tag } from '../shared/Tag.tsx';
import { useNow } from '../shared/useNow.ts';
import { eventTone, rankWords, type Given } from './words.ts';

export function HereNow({ snapshot, given }: { snapshot: VolunteerSnapshot; given: Given }) {
  const now = useNow(1000, snapshot.ranks.length > 0);
  const quiet = (snapshot.phase === 'off' || snapshot.phase === 'refused') && given.messages === 0 && given.finished === 0;
  if (quiet) return null;
  return (
    <section className="card" aria-label="This tab now">
      <header>
        <h2>This tab now</h2>
        <p className="muted small num">
          {plural(given.finished, 'rank')} finished · {plural(given.messages, 'message')} · {bytes(given.bytes)}
        </p>
      </header>
      {snapshot.ranks.length === 0 ? (
        <p className="muted">No rank is here at the moment.</p>
      ) : (
        <ul className="ranks-here">
          {snapshot.ranks.map((r) => {
            const word = rankWords(r);
            return (
              <li key={`${r.job}.${r.task}.${r.incarnation}`}>
                <div className="row apart">
                  <strong>
                    Rank {r.task} <span className="muted">of {r.size}</span>
                    {r.incarnation > 0 && <span className="muted small"> · incarnation {r.incarnation}</span>}
                  </strong>
                  <Tag tone={word.tone}>{word.text}</Tag>
                </div>
                <div className="row apart muted small num">
                  <span className="job-of">{r.jobName ?? r.job}</span>
                  <span>
                    {count(r.messagesIn)} in, {count(r.messagesOut)} out · {bytes(r.bytesIn + r.bytesOut)} · {elapsed(now - r.since)}
                  </span>
                </div>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

const SHORT = 8;

export function History({ events }: { events: readonly VolunteerEvent[] }) {
  const [all, setAll] = useState(false);
  if (events.length === 0) return null;
  const shown = (all ? events : events.slice(-SHORT)).toReversed();
  return (
    <section className="card" aria-label="What this tab has done">
      <h2>What this tab has done</h2>
      <ol className="history">
        {shown.map((e, i) => (
          <li key={`${e.at}.${events.length - i}`}>
            <time className="muted num" dateTime={new Date(e.at).toISOString()}>
              {clock(e.at)}
            </time>
            <i className={`dot tone-${eventTone(e.kind)}`} aria-hidden="true" />
            <span>{e.text}</span>
          </li>
        ))}
      </ol>
      {events.length > SHORT && (
        <button className="button small ghost" onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? 'Show less' : `Show all ${events.length}`}
        </button>
      )}
    </section>
  );
}
