/**
 * This tab's identity, so that a reload comes back as the same node. It lives in sessionStorage, which a duplicated tab
 * copies: a Web Lock held for the life of the tab shows the copy that it is one.
 */
import type { Identity } from '../daemon/seams.ts';

const KEY = 'mayfly-node';
/** After a reload the old document may hold its lock for a moment. */
const RELOAD_MS = 1000;

let release: (() => void) | undefined;

/** Holds a lock until `release` is called or the tab closes; false if another tab holds it. */
function hold(name: string, signal?: AbortSignal): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    navigator.locks
      .request(name, signal ? { signal } : { ifAvailable: true }, (lock) => {
        if (!lock) return resolve(undefined);
        return new Promise<void>((free) => resolve(free));
      })
      .catch(() => resolve(undefined));
  });
}

/** The identity to come back as; undefined for a new node. */
export async function loadIdentity(): Promise<Identity | undefined> {
  let identity: Identity | undefined;
  try {
    identity = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
  if (!identity?.node || !identity.secret) return undefined;
  release?.();
  release = (await hold(lockOf(identity))) ?? (await hold(lockOf(identity), AbortSignal.timeout(RELOAD_MS)));
  return release ? identity : undefined;
}

export async function saveIdentity(identity: Identity | undefined): Promise<void> {
  try {
    if (identity) sessionStorage.setItem(KEY, JSON.stringify(identity));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage is off: a reload is a new node then.
  }
  if (identity && !held.has(identity.node)) {
    held.add(identity.node);
    if (!release) release = await hold(lockOf(identity));
  }
}
const held = new Set<string>();

const lockOf = (identity: Identity): string => `mayfly-node-${identity.node}`;

/** Holds the lock that the daemon worker waits for: a tab whose lock others wait for is not frozen by Energy Saver. */
export const holdAwake = (name: string): Promise<(() => void) | undefined> => hold(name);
