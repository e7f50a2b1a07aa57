/** The address under which others come to this server, as far as the page can know. */

/** `publicUrl`: as the server was told it; else where this page came from. */
export const baseOf = (publicUrl: string | undefined): string => publicUrl?.replace(/\/+$/, '') ?? location.origin;

/**
 * Where a tab that opens it can compute. `here`: the address leads every other device to itself. `insecure`: other
 * devices open the page, and their browsers give it no shared memory, because it is plain HTTP.
 */
export type Reach = 'here' | 'insecure' | 'everywhere';

export function reachOf(base: string): Reach {
  const { hostname, protocol } = new URL(base);
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return 'here';
  return protocol === 'https:' ? 'everywhere' : 'insecure';
}
