/** The submitter's token: asked once, kept in this browser, never left in the address. */
import { useSyncExternalStore } from 'react';
import { remember, remembered } from '../shared/stored.ts';

let token: string | undefined = takeFromAddress() ?? remembered('token');
const listeners = new Set<() => void>();

export const currentToken = (): string | undefined => token;

let refused = false;
/** True after the server has refused the token that was kept: the gate says so. */
export const tokenWasRefused = (): boolean => refused;

/** The server does not know the token: forget it and ask for another one. */
export function refuseToken(): void {
  refused = true;
  put(undefined);
}

export function setToken(next: string): void {
  refused = false;
  put(next);
}

function put(next: string | undefined): void {
  token = next;
  remember('token', next);
  for (const f of listeners) f();
}

export const useToken = (): string | undefined =>
  useSyncExternalStore(
    (f) => {
      listeners.add(f);
      return () => listeners.delete(f);
    },
    () => token,
  );

/** `?token=…` is kept and removed from the address, so that no screen, history or link shows it. */
function takeFromAddress(): string | undefined {
  const url = new URL(location.href);
  const given = url.searchParams.get('token');
  if (!given) return undefined;
  url.searchParams.delete('token');
  history.replaceState(history.state, '', url);
  remember('token', given);
  return given;
}
