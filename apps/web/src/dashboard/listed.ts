/** Which list of jobs or nodes is the newest: the socket's, or one that REST has given. Pure. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { Brought, LiveView } from './live.ts';

export interface Listed<T> {
  data: T[] | undefined;
  error: Error | null;
}

/**
 * The newest list: what the socket has brought since it is up (I5 of live.ts), else what came last. What REST said
 * before the socket was there does not come back when it goes.
 */
export function listed<T>(
  { status, since }: Pick<LiveView, 'status' | 'since'>,
  live: Brought<T> | undefined,
  query: Pick<UseQueryResult<T[]>, 'data' | 'dataUpdatedAt' | 'error'>,
): Listed<T> {
  const error = status === 'online' ? null : query.error;
  if (!live) return { data: query.data, error };
  const newest = (status === 'online' && live.at >= since) || live.at >= query.dataUpdatedAt;
  return { data: newest ? live.data : (query.data ?? live.data), error };
}
