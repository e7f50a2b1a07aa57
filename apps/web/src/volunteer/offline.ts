/** The page that says so when this address is opened without its server: see public/volunteer-offline.js. */
export function keepOfflinePage(): void {
  // Not in private windows of some browsers, nor off HTTPS: the browser's own error is shown then.
  navigator.serviceWorker?.register('/volunteer-offline.js', { scope: '/volunteer' }).catch(() => undefined);
}
