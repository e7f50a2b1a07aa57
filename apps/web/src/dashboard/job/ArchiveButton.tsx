/** All that a job has written, as one file. */
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { saveArchive } from '../api.ts';
import { Problem } from '../Problem.tsx';

export function ArchiveButton({ job }: { job: JobView }) {
  const save = useMutation({ mutationFn: () => saveArchive(job.id) });
  return (
    <>
      <button className="button small" disabled={save.isPending || (job.outputBytes === 0 && job.outputs.length === 0)} title="Result files and the output of every rank, as a tar file" onClick={() => save.mutate()}>
        Download all
      </button>
      <Problem error={save.error} title="The archive could not be made" />
    </>
  );
}
