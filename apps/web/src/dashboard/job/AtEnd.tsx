/** Who hears of the end of a job: this browser, when somebody asks it to, and the webhook of the submission. */
import type { JobView } from '@mayfly/wire';
import { useState } from 'react';
import { canNotify, doNotNotify, idsOf, notifyAtEnd, useAwaited } from '../end-notices.ts';
import { hasEnded } from '../status-texts.ts';

export function AtEnd({ job }: { job: JobView }) {
  const awaited = idsOf(useAwaited()).includes(job.id);
  const [refused, setRefused] = useState(false);
  // Of a job that was watched the place stays, so that nothing moves at its end.
  const [able] = useState(() => canNotify() && !hasEnded(job.state));
  if (!able && !job.webhook) return null;
  return (
    <div>
      <dt>When it ends</dt>
      <dd className="at-end">
        {able && !hasEnded(job.state) ? (
          <button
            type="button"
            className="button small"
            aria-pressed={awaited}
            title="Shows a notification of this browser when the job has ended, while a tab of the dashboard is open"
            onClick={() => (awaited ? doNotNotify(job.id) : void notifyAtEnd(job.id).then((on) => setRefused(!on)))}
          >
            {awaited ? 'Will notify' : 'Notify me'}
          </button>
        ) : (
          !job.webhook && '–'
        )}
        {refused && (
          <span className="wrong" role="alert">
            This browser does not allow notifications of this site.
          </span>
        )}
        {job.webhook && (
          <span className="aside muted small" title={job.webhook.error}>
            Webhook {job.webhook.state}
          </span>
        )}
      </dd>
    </div>
  );
}
