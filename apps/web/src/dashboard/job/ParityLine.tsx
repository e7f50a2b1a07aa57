/** How many more tabs may close, and what parity has saved, in one line. */
import { hasEnded, isPaused } from '../status-texts.ts';
import { parityLine } from './parity-text.ts';
import type { ViewProps } from './view-props.ts';

export function ParityLine({ job }: Pick<ViewProps, 'job'>) {
  const text = job.parity && parityLine(job.parity, hasEnded(job.state) || isPaused(job.state));
  if (!text) return null;
  return (
    <p className="muted small num" data-testid="parity-line">
      {text}
    </p>
  );
}
