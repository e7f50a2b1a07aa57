/**
 * The service worker of the volunteer page (scope /volunteer). It has one task: where the server cannot be reached, a
 * page of its own says so in place of the browser's error, and goes on when the server is back.
 *
 *  W1 It keeps nothing: no cache, no copy of any file. What the server sends passes through as it is, isolation headers
 *  included, and nothing old is ever shown.
 *  W2 Only whole pages are looked at, neither their scripts and data nor frames.
 */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>No connection – Mayfly</title>
<link rel="icon" href="data:,">
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid; place-content: center; background: light-dark(#f6f8f6, #0e1413); color: light-dark(#17211f, #e4ecea); }
  main { max-width: 26rem; padding: 1.5rem; }
  h1 { font-size: 1.45rem; margin: 0 0 0.5rem; }
  button { font: inherit; padding: 0.5rem 1.1rem; border-radius: 9px; border: 1px solid currentColor; background: none; color: inherit; cursor: pointer; }
</style>
<main>
  <h1>No connection to the server</h1>
  <p id="why" role="status">This page lives on <b id="host"></b>, which does not answer: it is away, or this device is offline.</p>
  <p>Nothing is computed here meanwhile. The page tries again by itself, and goes on as soon as the server answers. What your tab gave, and what you chose, is kept.</p>
  <button type="button" id="again">Try now</button>
</main>
<script nonce="own">
  document.getElementById('host').textContent = location.host;
  const look = () => fetch('/healthz', { cache: 'no-store' }).then((r) => r.ok && location.reload(), () => undefined);
  document.getElementById('again').onclick = look;
  addEventListener('online', look);
  setInterval(look, 3000);
</script>
</html>`;

/** As the server's own pages have them: a page without them would be cut off from what is isolated. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy':
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'nonce-own'; connect-src " +
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  'X-Content-Type-Options': 'nosniff',
};

/** What a proxy says when the server behind it is away. */
const AWAY = [502, 503, 504];

addEventListener('install', () => void skipWaiting());
addEventListener('fetch', (event) => {
  const { mode, destination, method } = event.request;
  if (mode !== 'navigate' || destination !== 'document' || method !== 'GET') return; // W2
  const away = () => new Response(PAGE, { status: 503, headers: HEADERS });
  event.respondWith(fetch(event.request).then((r) => (AWAY.includes(r.status) ? away() : r), away)); // W1
});
