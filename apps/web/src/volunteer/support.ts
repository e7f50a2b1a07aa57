/** Whether this browser can compute here, and if not, what to do: in plain words, for people who never heard of headers. */

export interface Surroundings {
  secure: boolean;
  isolated: boolean;
  sharedMemory: boolean;
  workers: boolean;
  webAssembly: boolean;
  /** e.g. 'http://10.0.0.5:7070' */
  origin: string;
}

export interface Obstacle {
  title: string;
  why: string;
  todo: string[];
}

export const surroundings = (): Surroundings => ({
  secure: globalThis.isSecureContext,
  isolated: globalThis.crossOriginIsolated === true,
  sharedMemory: typeof SharedArrayBuffer === 'function',
  workers: typeof Worker === 'function',
  webAssembly: typeof WebAssembly === 'object',
  origin: location.origin,
});

/** What a browser may or may not offer to a volunteer; nothing of it is needed. */
export interface Extras {
  battery: boolean;
  memory: boolean;
  pressure: boolean;
  idle: boolean;
}

export const extras = (): Extras => ({
  battery: 'getBattery' in navigator,
  memory: 'measureUserAgentSpecificMemory' in performance,
  pressure: 'PressureObserver' in globalThis,
  idle: 'IdleDetector' in globalThis,
});

/** What this browser lacks and what that means here, as sentences. */
export function lacks(e: Extras): string[] {
  const out: string[] = [];
  if (!e.battery) out.push('It does not say whether this machine charges, so “only while charging” cannot be offered.');
  if (!e.memory) out.push('It does not measure how much memory this tab uses.');
  if (!e.pressure) out.push('It does not say when the processor is under pressure; the share of each core below is all that limits it.');
  if (!e.idle) out.push('It does not say whether somebody is at the keyboard, so “only while nobody uses this machine” cannot be offered.');
  return out;
}

/** The first thing that is in the way; undefined: this tab can compute. */
export function obstacle(s: Surroundings): Obstacle | undefined {
  if (!s.secure) {
    const https = s.origin.replace(/^http:/, 'https:');
    const port = /:(\d+)$/.exec(s.origin)?.[0] ?? '';
    return {
      title: 'This page did not come over HTTPS',
      why: `It came from ${s.origin}. Off the machine that the server runs on, browsers give shared memory (SharedArrayBuffer) to HTTPS pages only, and without it no rank can wait for a message.`,
      todo: [
        `Ask whoever runs this server to start it with a certificate (mayfly server --tls-self-signed, or --tls-cert and --tls-key), then open ${https}/volunteer.`,
        `With a certificate that the server made itself the browser warns once: choose “Advanced”, then go on.`,
        `On the server's own machine plain HTTP is enough: http://localhost${port}/volunteer.`,
      ],
    };
  }
  if (!s.workers || !s.webAssembly) {
    return {
      title: 'This browser is too old',
      why: `It has no ${s.workers ? 'WebAssembly' : 'Web Workers'}.`,
      todo: ['Update it, or use a current Chrome, Edge, Firefox or Safari.'],
    };
  }
  if (!s.isolated || !s.sharedMemory) {
    return {
      title: 'This page has no shared memory',
      why: 'The browser did not isolate the page (cross-origin isolation), so SharedArrayBuffer is missing. Usually a proxy between you and the server removed two response headers.',
      todo: [
        'Reload once. If it stays so, try a private window without extensions, or a current Chrome, Edge or Firefox.',
        'Whoever runs the proxy must pass Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy through.',
      ],
    };
  }
  return undefined;
}
