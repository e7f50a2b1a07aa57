/** Whether this browser can run ranks here, and if not why, in words for people. */

/** undefined: it can. */
export function whyNotHere(): string | undefined {
  if (typeof Worker === 'undefined') return 'This browser has no Web Workers.';
  if (!isSecureContext)
    return (
      `Browsers do not treat ${location.protocol}//${location.host} as secure, so this page has no shared ` +
      `memory. Open it over https:// (ask the owner of the server to enable HTTPS), or on the server's own ` +
      'machine as http://localhost.'
    );
  if (typeof SharedArrayBuffer === 'undefined' || !crossOriginIsolated)
    return (
      'This page is not cross-origin isolated, so the browser denies it shared memory. A proxy may have ' +
      'removed its COOP and COEP headers.'
    );
  return undefined;
}

/** Ranks that this machine should take at most: one core is left to the person in front of it. */
export const sensibleSlots = (): number => Math.max(1, (navigator.hardwareConcurrency || 2) - 1);
