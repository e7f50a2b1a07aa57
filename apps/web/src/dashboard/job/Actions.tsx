/**
 * What can be done with a whole job: checkpoint, pause, run again, download, edit a copy; last of all cancel or delete.
 * One button at most is the primary one: Resume of a paused job, Run again of one that has ended. (While slots are
 * missing, it is the notice's.)
 */
import { accepts } from '@mayfly/protocols/manifests';
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import {
  cancelJob,
  checkpointJob,
  deleteJob,
  getSubmission,
  pauseJob,
  resumeJob,
  saveArchive,
  submitJob,
} from '../api.ts';
import { useMay, useMayChange, useMe } from '../context.tsx';
import { Confirm } from '../Confirm.tsx';
import { Problem } from '../Problem.tsx';
import { pauseAdvice, restarts } from '../protocol-texts.ts';
import { hasEnded, isPaused } from '../status-texts.ts';

export function Actions({ job }: { job: JobView }) {
  const navigate = useNavigate();
  const cancel = useMutation({ mutationFn: () => cancelJob(job.id) });
  const again = useMutation({
    mutationFn: async () => submitJob(await getSubmission(job.id)),
    onSuccess: (fresh) => navigate({ to: '/dashboard/jobs/$id', params: { id: fresh.id } }),
  });
  const remove = useMutation({ mutationFn: () => deleteJob(job.id), onSuccess: () => navigate({ to: '/dashboard' }) });
  const checkpoint = useMutation({ mutationFn: () => checkpointJob(job.id) });
  const pause = useMutation({ mutationFn: () => pauseJob(job.id) });
  const resume = useMutation({ mutationFn: () => resumeJob(job.id) });
  /** Result files and the output of every rank, as one file. */
  const archive = useMutation({ mutationFn: () => saveArchive(job.id) });
  const ended = hasEnded(job.state);
  const takesCheckpoints = accepts(job.protocol, 'checkpoints');
  // One that waits for storage goes on by itself; it may be paused for longer.
  const byHand = isPaused(job.state) && !job.stopped;
  const mayChange = useMayChange(job);
  const maySubmit = useMay('submitter');
  const me = useMe();
  /** Why there are fewer buttons than others have. */
  const refused =
    me === undefined || mayChange
      ? undefined
      : me.role === 'viewer'
        ? 'Your token can only view jobs.'
        : `This job belongs to ${job.owner}. You can view it and run it again.`;
  return (
    <div className="job-actions">
      <div className="row actions">
        {/*
          These go when the job ends. They stand before the others on a wide page, below them on a narrow one, so
          that none of those moves.
        */}
        {!ended && mayChange && takesCheckpoints && (
          <Button
            className="button tail"
            isDisabled={checkpoint.isPending || !job.tasks.some((t) => t.node !== undefined)}
            onPress={() => checkpoint.mutate()}
          >
            Checkpoint now
          </Button>
        )}
        {!ended && mayChange && byHand && (
          <Button className="button primary mid tail" isDisabled={resume.isPending} onPress={() => resume.mutate()}>
            Resume
          </Button>
        )}
        {!ended && mayChange && !byHand && (
          <Confirm
            label="Pause"
            className="mid tail"
            mild
            title={`Pause “${job.name}”?`}
            text={pauseAdvice(job)}
            yes={restarts(job.protocol) ? 'Pause the job' : undefined}
            no="Keep running"
            busy={pause.isPending}
            onYes={() => pause.mutate()}
          />
        )}
        {maySubmit && (
          <Button
            className={ended ? 'button primary' : 'button'}
            isDisabled={again.isPending}
            onPress={() => again.mutate()}
          >
            Run again
          </Button>
        )}
        <Button
          className="button"
          isDisabled={archive.isPending || (job.outputBytes === 0 && job.outputs.length === 0)}
          onPress={() => archive.mutate()}
        >
          Download all
        </Button>
        {maySubmit && (
          <Link to="/dashboard/new" search={{ from: job.id }} className="button">
            Edit a copy
          </Link>
        )}
        {mayChange &&
          (ended ? (
            <Confirm
              label="Delete"
              className="last"
              title={`Delete “${job.name}”?`}
              text="This permanently deletes its output, result files and checkpoints from the server."
              yes="Delete it"
              no="Keep it"
              busy={remove.isPending}
              onYes={() => remove.mutate()}
            />
          ) : (
            <Confirm
              label="Cancel job"
              className="last"
              title={`Cancel “${job.name}”?`}
              text="Its ranks stop immediately. Its output and files so far are kept."
              yes="Cancel the job"
              no="Keep running"
              busy={cancel.isPending}
              onYes={() => cancel.mutate()}
            />
          ))}
      </div>
      {refused !== undefined && <p className="muted small">{refused}</p>}
      {[cancel, pause, resume, checkpoint, again, archive, remove].map(
        (m, i) => m.error && <Problem key={i} error={m.error} />,
      )}
    </div>
  );
}
