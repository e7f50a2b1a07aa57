/**
 * What every view of the dashboard reaches: the live connection, jobs and nodes (live, or by REST while the socket is
 * away).
 */
import { ROLES, type JobView, type Me, type NodeView, type Role } from '@mayfly/wire';
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { useNow } from '../shared/useNow.ts';
import { getJobs, getMe, getNodes, serverNow } from './api.ts';
import { listed, type Listed } from './listed.ts';
import { useLiveView, type Live, type LiveView } from './live.ts';

export const LiveContext = createContext<Live | undefined>(undefined);

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error('no live connection outside the dashboard');
  return live;
}

const whileAway = ({ status }: LiveView) => ({ enabled: status !== 'online', refetchInterval: 4000, retry: false });

export function useJobs(): Listed<JobView> {
  const view = useLiveView(useLive());
  return listed(view, view.jobs, useQuery({ queryKey: ['jobs'], queryFn: getJobs, ...whileAway(view) }));
}

export function useNodes(): Listed<NodeView> {
  const view = useLiveView(useLive());
  return listed(view, view.nodes, useQuery({ queryKey: ['nodes'], queryFn: getNodes, ...whileAway(view) }));
}

/** Whose token this browser has. Undefined until the server has said it. */
export const useMe = (): Me | undefined => useQuery({ queryKey: ['me'], queryFn: getMe, staleTime: 60_000 }).data;

/**
 * Whether that token has the role, or a greater one. The server decides; the page only leaves out what would be
 * refused.
 */
export function useMay(role: Role): boolean {
  const me = useMe();
  return me !== undefined && ROLES.indexOf(me.role) >= ROLES.indexOf(role);
}

/** Whether that token may act on a job: its submitter's, or an owner's. */
export function useMayChangeOf(): (job: JobView) => boolean {
  const me = useMe();
  const [owner, submitter] = [useMay('owner'), useMay('submitter')];
  return (job) => owner || (submitter && me?.name === job.owner);
}
export const useMayChange = (job: JobView): boolean => useMayChangeOf()(job);

/** The server's time, ticking. */
export const useServerNow = (everyMs = 1000, ticking = true): number => serverNow(useNow(everyMs, ticking));
