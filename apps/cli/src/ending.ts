/** How a job ended: its exit code for this process, and why, for people. */
import type { JobView } from '@mayfly/wire';
import { Exit } from './exit-codes.ts';
import { warn } from './terminal.ts';

/** Says on standard error why a job did not end well. @returns the exit code */
export function tell(view: JobView): number {
  if (view.state === 'done') return view.exitCode ?? 0;
  const reason = view.error ? `${view.error.message} (${view.error.code})` : (view.reason ?? view.state);
  warn(`job ${view.id} ${view.state}: ${reason}`);
  return view.exitCode !== undefined && view.exitCode > 0 ? view.exitCode : Exit.FAILED;
}

/** 'done, exit code 3' */
export const endOf = (view: JobView): string =>
  `${view.state}${view.exitCode === undefined ? '' : `, exit code ${view.exitCode}`}`;
