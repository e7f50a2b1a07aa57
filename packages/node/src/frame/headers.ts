/**
 * The headers that the sandbox stands on. Pure data: the server puts them on its answers, docs/sandbox.md explains
 * each. `origin` is the server's own, as the browser sees it ('https://mayfly.example:7070').
 */

/**
 * Headers of everything under /frame/ (the document of the sandboxed frame and its script). `embedded`: it is inside
 * the widget, which is inside another site's page. The policy then names no ancestors, because it would have to name
 * every one of them.
 */
export function frameHeaders(origin: string, embedded = false): Record<string, string> {
  const socket = origin.replace(/^http/, 'ws');
  return {
    // The frame has an opaque origin: 'self' would match nothing, so the server is named.
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src ${origin}/frame/ blob: 'wasm-unsafe-eval'`,
      'worker-src blob:',
      `connect-src ${origin}/data/ ${socket}/data/`,
      "form-action 'none'",
      "base-uri 'none'",
      `frame-ancestors ${embedded ? '*' : origin}`,
      'sandbox allow-scripts',
    ].join('; '),
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Access-Control-Allow-Origin': '*',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy':
      'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), midi=(), display-capture=()',
    'Cache-Control': 'no-cache',
  };
}

/** The script in apps/web/index.html itself; its test says what stands here after a change. */
const PAGE_SCRIPT = 'sha256-vV+pwkiAvzCiEhxL0ByVI7F4M1CYjUAbPbeFjoALjJs=';

/** Headers of the pages (/, /volunteer, /dashboard…) and of their assets. */
export const pageHeaders: Record<string, string> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // frame-src 'self': the frame's document must not navigate itself to another origin.
  'Content-Security-Policy': [
    "default-src 'self'",
    `script-src 'self' '${PAGE_SCRIPT}' 'wasm-unsafe-eval'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
};

/** Headers of /widget, the one page that other sites may frame. */
export const widgetHeaders: Record<string, string> = {
  ...pageHeaders,
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Content-Security-Policy': pageHeaders['Content-Security-Policy']!.replace(
    "frame-ancestors 'self'",
    'frame-ancestors *',
  ),
};

/** Headers of /widget.js, which other sites load. */
export const widgetScriptHeaders: Record<string, string> = {
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** Headers of every answer under /data/: read by frames of an opaque origin, without credentials. */
export const dataHeaders: Record<string, string> = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'private, no-store',
};
