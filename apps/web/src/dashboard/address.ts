/** The address under which others come to this server, as far as the page can know. */

/** `publicUrl`: as the server was told it; else where this page came from. */
export const baseOf = (publicUrl: string | undefined): string => publicUrl?.replace(/\/+$/, '') ?? location.origin;

/** It leads every other device to itself. */
export const onlyHere = (base: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(base).hostname);
