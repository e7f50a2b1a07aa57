/** How many more tabs may close, and what parity has saved: a line or two, whose place is there while they change. */
import { useState } from 'react';
import { hasEnded, isPaused } from '../status-texts.ts';
import { parityLine } from './parity-text.ts';
import type { ViewProps } from './view-props.ts';

export function ParityLine({ job }: Pick<ViewProps, 'job'>) {
  const ended = hasEnded(job.state);
  const [watched] = useState(!ended);
  const text = job.parity && parityLine(job.parity, ended || isPaused(job.state));
  if (!job.parity || (!text && !watched)) return null;
  return (
    <p className={`muted small num${watched ? ' parity-line' : ''}`} data-testid="parity-line">
      {text}
    </p>
  );
}
