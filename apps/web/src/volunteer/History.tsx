/** What this tab has done, newest first. Rendered when there is a new event, not with each snapshot (cheap.ts). */
import type { VolunteerEvent } from '@mayfly/node/page';
import { memo } from 'react';
import { clock } from '../shared/format.ts';
import { eventTone } from './tab-texts.ts';

interface HistoryProps {
  events: readonly VolunteerEvent[];
  on: boolean;
}

export const History = memo(function History({ events, on }: HistoryProps) {
  if (!on && events.length === 0) return null;
  return (
    <section className="card" aria-label="What this tab has done">
      <h2>What this tab has done</h2>
      {/* Lines keep their places and change what they say. */}
      <ol className="history" tabIndex={0} aria-label="Events, newest first">
        {events.toReversed().map((e, i) => (
          <li key={i}>
            <time className="muted num" dateTime={new Date(e.at).toISOString()}>
              {clock(e.at)}
            </time>
            <i className={`dot tone-${eventTone(e.kind)}`} aria-hidden="true" />
            <span>{e.text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
});
