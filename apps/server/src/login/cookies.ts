/** Cookies of a login: read from a header, written into one. Their values are of letters and digits only. */

/** Over HTTPS under a name that no other host and no plain page can set (RFC 6265bis, 4.1.3.2). */
const nameOf = (name: string, secure: boolean): string => (secure ? `__Host-${name}` : name);

export const SESSION = 'mayfly-session';
export const LOGIN = 'mayfly-login';

export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = new Map<string, string>();
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0) found.set(part.slice(0, at).trim(), part.slice(at + 1).trim());
  }
  const value = found.get(nameOf(name, true)) ?? found.get(name);
  return value !== undefined && /^\w{1,200}$/.test(value) ? value : undefined;
}

/**
 * `site`: 'Lax' for what has to come along when another site sends the browser here. `seconds` 0: the browser forgets
 * it.
 */
export const cookie = (
  name: string,
  value: string,
  o: { secure: boolean; seconds: number; site: 'Lax' | 'Strict' },
): string =>
  `${nameOf(name, o.secure)}=${value}; Path=/; Max-Age=${o.seconds}; HttpOnly; SameSite=${o.site}${o.secure ? '; Secure' : ''}`;
