/** Watches the jobs whose end is awaited, wherever in the dashboard one is, and shows the browser's notification. */
import { oneLine } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { getJobs } from './api.ts';
import { doNotNotify, endedAmong, idsOf, useAwaited } from './end-notices.ts';
import { jobLine, jobWord } from './status-texts.ts';

const POLL_MS = 5000;

export function EndNotices() {
  const router = useRouter();
  const awaited = useAwaited();
  const { data } = useQuery({
    // An older list may lack a job that is awaited since, which would be taken for gone.
    queryKey: ['awaited jobs', awaited],
    queryFn: getJobs,
    enabled: awaited !== '',
    staleTime: 0,
    gcTime: 0,
    refetchInterval: POLL_MS,
    refetchIntervalInBackground: true,
  });
  useEffect(() => {
    if (awaited === '' || !data) return;
    const { ended, over } = endedAmong(idsOf(awaited), data);
    for (const job of ended) {
      // Other tabs announce it under the same tag, which is shown once.
      const shown = new Notification(oneLine(`${jobWord(job.state).text}: ${job.name}`), {
        body: oneLine(jobLine(job)),
        tag: job.id,
      });
      shown.addEventListener('click', () => {
        focus();
        void router.navigate({ to: '/dashboard/jobs/$id', params: { id: job.id } });
      });
    }
    for (const id of over) doNotNotify(id);
  }, [awaited, data, router]);
  return null;
}
