/**
 * What this browser shows the server: a token, which is asked for once, kept in this browser and never left in the
 * address; or the cookie of a session, which no script sees.
 */
import { useSyncExternalStore } from 'react';
import { remember, remembered } from '../shared/stored.ts';

/** In place of a token: the cookie. */
const SESSION = '';
let token: string | undefined =
  takeFromAddress() ?? remembered('token') ?? (remembered('session') === undefined ? undefined : SESSION);
const listeners = new Set<() => void>();

/** Undefined: none is sent; the browser adds its cookie. */
export const currentToken = (): string | undefined => token || undefined;

/** A token or a session. */
export const isSignedIn = (): boolean => token !== undefined;

let refused = false;
/** True after the server has refused the token that was kept: the gate says so. */
export const tokenWasRefused = (): boolean => refused;

/** The server does not know the token: forget it and ask for another one. */
export function refuseToken(): void {
  if (token === undefined) return;
  refused = true;
  put(undefined);
}

export function setToken(next: string): void {
  refused = false;
  put(next);
}

/** The server has taken this browser's cookie. */
export const takeSession = (): void => setToken(SESSION);

/** The person leaves. */
export function forgetToken(): void {
  refused = false;
  put(undefined);
}

function put(next: string | undefined): void {
  token = next;
  remember('token', next || undefined);
  remember('session', next === SESSION ? '1' : undefined);
  for (const f of listeners) f();
}

/** Undefined: this browser has nothing to show. */
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
