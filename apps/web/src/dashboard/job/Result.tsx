/**
 * The result beside the head of a job's page: its first picture, else the last lines that it printed. Who watches has
 * its place from the start; who comes to a job that made nothing sees none.
 */
import { useState, useSyncExternalStore } from 'react';
import { hasEnded } from '../status-texts.ts';
import { firstPicture } from './result.ts';
import { ResultPicture } from './ResultPicture.tsx';
import type { ViewProps } from './view-props.ts';

/** Of the output. */
const LINES = 9;

export function Result({ job, feed, files }: Omit<ViewProps, 'go'>) {
  useSyncExternalStore(feed.subscribe, feed.version);
  const ended = hasEnded(job.state);
  const [begun] = useState(!ended);
  const picture = firstPicture(job, files);
  const lines = picture ? [] : feed.log.lines(undefined, LINES);
  if (!begun && !picture && lines.length === 0) return null;
  return (
    <section className="job-result" aria-label="Result" data-testid="result">
      {picture ? (
        <ResultPicture key={picture.path} job={job.id} file={picture} kind={picture.kind} final={ended} />
      ) : lines.length > 0 ? (
        <pre className="result-lines" tabIndex={0} aria-label="The last lines of output">
          {lines.map((l) => l.text).join('\n')}
        </pre>
      ) : (
        <p className="muted small">
          {ended ? 'The program printed nothing and drew nothing.' : 'The result appears here while the job runs.'}
        </p>
      )}
    </section>
  );
}
