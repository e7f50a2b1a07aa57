/** Where the time went: of the whole run so far, by rank and by MPI call. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { csvOf } from '../../report/profile.ts';
import { Profile } from '../../report/Profile.tsx';
import { getProfile, saveBlob } from '../api.ts';
import { Problem } from '../Problem.tsx';
import { hasEnded } from '../status-texts.ts';
import type { ViewProps } from './view-props.ts';

const POLL_MS = 2000;

export function ProfileView({ job }: ViewProps) {
  const ended = hasEnded(job.state);
  const [begun] = useState(!ended);
  const { data, error } = useQuery({
    queryKey: ['profile', job.id, ended],
    queryFn: () => getProfile(job.id),
    placeholderData: (old) => old,
    staleTime: 0,
    // The last words of ranks come a moment after the end.
    refetchInterval: (q) => (ended && q.state.dataUpdateCount > 3 ? false : POLL_MS),
  });
  return (
    <section className="stack" aria-label="Where the time went">
      <div className="row apart">
        <h2>Where the time went</h2>
        <button
          className="button small"
          disabled={!data}
          onClick={() =>
            data && saveBlob(new Blob([csvOf(data.ranks)], { type: 'text/csv' }), `${job.name}-profile.csv`)
          }
        >
          Download as CSV
        </button>
      </div>
      {data ? (
        <Profile ranks={data.ranks} watched={begun} />
      ) : (
        <Problem error={error} title="Could not load the profile" />
      )}
    </section>
  );
}
