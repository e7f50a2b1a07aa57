/**
 * Whether this tab volunteers right now: the volunteer page writes it, the header shows it on every page. Owns one
 * value.
 */
import { useSyncExternalStore } from 'react';
import type { Word } from './tone.ts';

let now: Word | undefined;
const listeners = new Set<() => void>();

export function setPresence(word: Word | undefined): void {
  if (now?.text === word?.text && now?.tone === word?.tone) return;
  now = word;
  for (const f of listeners) f();
}

export const usePresence = (): Word | undefined =>
  useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => now,
  );
