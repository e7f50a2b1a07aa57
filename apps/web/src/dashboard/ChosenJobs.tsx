/** What can be done with the jobs that are selected in the list: cancel those that still run, delete the others. */
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { plural } from '../shared/format.ts';
import { cancelJob, deleteJob } from './api.ts';
import { Confirm } from './Confirm.tsx';
import { eachOf, namesOf, type Chosen } from './job-list.ts';

export function ChosenJobs({ jobs: { cancel, remove }, onClear }: { jobs: Chosen; onClear: () => void }) {
  const cancelling = useMutation({ mutationFn: (jobs: JobView[]) => eachOf(jobs, cancelJob) });
  const removing = useMutation({ mutationFn: (jobs: JobView[]) => eachOf(jobs, deleteJob), onSuccess: onClear });
  const n = cancel.length + remove.length;
  const busy = cancelling.isPending || removing.isPending;
  const failed = [
    ...(cancelling.data?.failed ?? []).map((f) => ({ ...f, what: 'cancel' })),
    ...(removing.data?.failed ?? []).map((f) => ({ ...f, what: 'delete' })),
  ];
  return (
    <>
      {failed.length > 0 && (
        <div className="notice tone-bad" role="alert">
          {failed.map((f) => (
            <p key={`${f.what} ${f.job.id}`}>
              Could not {f.what} “{f.job.name}”: {f.why}
            </p>
          ))}
        </div>
      )}
      {(n > 0 || busy) && (
        <div className="row selection" role="group" aria-label="Selected jobs">
          <strong className="small">{plural(n, 'job')} selected</strong>
          {cancel.length > 0 && (
            <Confirm
              label={`Cancel ${plural(cancel.length, 'job')}`}
              small
              title={`Cancel ${plural(cancel.length, 'job')}?`}
              text={`Their ranks stop immediately. Their output and files so far are kept: ${namesOf(cancel)}.`}
              yes={`Cancel ${plural(cancel.length, 'job')}`}
              no="Keep them running"
              busy={busy}
              onYes={() => cancelling.mutate(cancel)}
            />
          )}
          {remove.length > 0 && (
            <Confirm
              label={`Delete ${plural(remove.length, 'job')}`}
              small
              title={`Delete ${plural(remove.length, 'job')}?`}
              text={
                'This permanently deletes their output, result files and checkpoints from the server: ' +
                `${namesOf(remove)}.`
              }
              yes={`Delete ${plural(remove.length, 'job')}`}
              no="Keep them"
              busy={busy}
              onYes={() => removing.mutate(remove)}
            />
          )}
          <button className="button small ghost" onClick={onClear}>
            Clear
          </button>
        </div>
      )}
    </>
  );
}
