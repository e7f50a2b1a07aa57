/** The whole time line as a file for other viewers of traces. */
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { getTimeline, saveBlob } from '../../api.ts';
import { Problem } from '../../Problem.tsx';
import { inflate } from './feed.ts';
import { traceOf } from './trace.ts';

/** The most that one answer has. */
const COLUMNS = 2048;

export function TraceButton({ job, disabled }: { job: JobView; disabled: boolean }) {
  const save = useMutation({
    mutationFn: async () => {
      const view = await getTimeline(
        job.id,
        { from: 0, to: Number.MAX_SAFE_INTEGER, first: 0, last: job.size - 1, columns: COLUMNS },
        new AbortController().signal,
      );
      saveBlob(
        new Blob([JSON.stringify(traceOf(job.name, view, await inflate(view.shares)))], { type: 'application/json' }),
        `${job.name}-${job.id}.trace.json`,
      );
    },
  });
  return (
    <>
      <div className="row small">
        <button className="button small" disabled={disabled || save.isPending} onClick={() => save.mutate()}>
          Download as a trace
        </button>
        <span className="muted">the whole run, for ui.perfetto.dev or chrome://tracing</span>
      </div>
      <Problem error={save.error} title="Could not load the history" />
    </>
  );
}
