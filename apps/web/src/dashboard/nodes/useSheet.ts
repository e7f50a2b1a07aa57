/**
 * Columns of all nodes, or of one, while somebody looks: read by REST when one is over, and then only what is new. The
 * newest that are here are asked for once more: what a node said late belongs there.
 */
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { ApiFailure, getNodeTimeline, getNodesTimeline } from '../api.ts';
import { inflate } from '../job/timeline/feed.ts';
import { merged, type Sheet } from './slots.ts';

const AGAIN = 2;
const LEAST_MS = 1000;
/** After a refusal, or while the server is away. */
const RETRY_MS = 5000;

interface Read {
  sheet: Sheet;
  nextMs: number;
}

export const isMissing = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

export function useSheet(id?: string): UseQueryResult<Read> & { sheet: Sheet | undefined } {
  const query = useQuery<Read>({
    queryKey: ['slots', id ?? ''],
    queryFn: async ({ client, queryKey }) => {
      const before = client.getQueryData<Read>(queryKey)?.sheet;
      const from = before ? Math.max(0, before.until - AGAIN * before.widthMs) : 0;
      const t = await (id === undefined ? getNodesTimeline(from) : getNodeTimeline(id, from));
      const bytes = await inflate(t.slots);
      return {
        sheet: merged(before, { ...t, slots: new Uint16Array(bytes.buffer, 0, bytes.length >> 1) }),
        nextMs: t.nextMs,
      };
    },
    staleTime: 0,
    structuralSharing: false,
    refetchInterval: (q) =>
      isMissing(q.state.error) ? false : q.state.error ? RETRY_MS : Math.max(LEAST_MS, q.state.data?.nextMs ?? 0),
  });
  return { ...query, sheet: query.data?.sheet };
}
