/** The program of an example, which the server sends when it is chosen: the list of examples has no sources. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { ApiFailure, getExample } from '../api.ts';
import { draftOfExample, type Draft } from '../draft.ts';

export const exampleNamed = (name: string) =>
  queryOptions({
    queryKey: ['example', name],
    queryFn: () => getExample(name),
    // Examples change with the installation only.
    staleTime: Infinity,
    retry: (n, e) => !(e instanceof ApiFailure && e.status === 404) && n < 1,
  });

/**
 * Opens examples: the one that was asked for last, and none after `reset`.
 * @param show of the newest render, so that nothing is lost that was typed while an example loads
 */
export function useOpening(show: (pristine: Draft, name: string) => void) {
  const queries = useQueryClient();
  const { mutate, reset, error } = useMutation({
    mutationFn: (name: string) => queries.fetchQuery(exampleNamed(name)),
  });
  const showNow = useRef(show);
  showNow.current = show;
  const open = (name: string) => mutate(name, { onSuccess: (e) => showNow.current(draftOfExample(e), name) });
  return { open, reset, error };
}
