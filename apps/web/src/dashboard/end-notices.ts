/**
 * Notifications of this browser at the end of a job, for jobs that somebody asked them for.
 *
 * Owns the list of those jobs (localStorage, shared by all tabs). A job leaves it when it was announced, or is gone.
 */
import type { JobView } from '@mayfly/wire';
import { useSyncExternalStore } from 'react';
import { remember, remembered } from '../shared/stored.ts';
import { hasEnded } from './status-texts.ts';

const KEY = 'endNotices';
const MOST = 100;
const listeners = new Set<() => void>();

/** Ids as they were stored: anybody can have written there. */
export function idsOf(stored: string | undefined): string[] {
  return [...new Set(stored?.split(' ').filter((id) => /^[a-z0-9]{1,32}$/.test(id)))].slice(-MOST);
}

function keep(ids: readonly string[]): void {
  remember(KEY, ids.length === 0 ? undefined : ids.join(' '));
  for (const f of listeners) f();
}

const subscribe = (f: () => void): (() => void) => {
  listeners.add(f);
  addEventListener('storage', f);
  return () => {
    listeners.delete(f);
    removeEventListener('storage', f);
  };
};

/** Ids of the jobs whose end is to be announced, separated by blanks. */
export const useAwaited = (): string => useSyncExternalStore(subscribe, () => remembered(KEY) ?? '');

/** Browsers have it on HTTPS and on localhost alone; those of phones need a service worker for it. */
export const canNotify = (): boolean =>
  'Notification' in globalThis && !/Android|iPhone|iPad/.test(navigator.userAgent);

/** Asks the browser, if need be. False: it does not allow notifications. */
export async function notifyAtEnd(id: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false;
  keep(idsOf(`${remembered(KEY) ?? ''} ${id}`));
  return true;
}

export const doNotNotify = (id: string): void => keep(idsOf(remembered(KEY)).filter((other) => other !== id));

/** Of the jobs that are awaited: those that have ended, and the ids that need no more waiting. */
export function endedAmong(awaited: readonly string[], jobs: readonly JobView[]): { ended: JobView[]; over: string[] } {
  const known = new Map<string, JobView>(jobs.map((j) => [j.id, j]));
  const ended = awaited.flatMap((id) => known.get(id) ?? []).filter((j) => hasEnded(j.state));
  return { ended, over: [...awaited.filter((id) => !known.has(id)), ...ended.map((j) => j.id)] };
}
