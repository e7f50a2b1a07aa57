/** Whether this browser can run ranks here, and if not why, in words for people. */

/** undefined: it can. */
export function whyNotHere(): string | undefined {
  if (typeof Worker === 'undefined') return 'This browser has no Web Workers.';
  if (!isSecureContext)
    return `This page was opened as ${location.protocol}//${location.host}, which browsers do not count as secure, so they give it no shared memory. Open it as https://… (ask whoever runs the server to switch HTTPS on), or on the server's own machine as http://localhost.`;
  if (typeof SharedArrayBuffer === 'undefined' || !crossOriginIsolated)
    return 'This page is not cross-origin isolated, so the browser gives it no shared memory. A proxy between you and the server may have removed its COOP and COEP headers.';
  return undefined;
}

/** Ranks that this machine should take at most: one core is left to the person in front of it. */
export const sensibleSlots = (): number => Math.max(1, (navigator.hardwareConcurrency || 2) - 1);
