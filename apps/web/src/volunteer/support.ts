/**
 * Whether this browser can compute here, and if not, what to do: in plain words, for people who never heard of headers.
 */

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
  if (!e.battery) out.push('Whether this machine is charging, so “only while charging” is not available.');
  if (!e.memory) out.push('How much memory this tab uses.');
  if (!e.pressure) out.push('When the processor is busy or hot; only the share of each core limits the load.');
  if (!e.idle)
    out.push('Whether somebody is at the keyboard, so “only while nobody is using this machine” is not available.');
  return out;
}

/** The first thing that is in the way; undefined: this tab can compute. */
export function obstacle(s: Surroundings): Obstacle | undefined {
  if (!s.secure) {
    const https = s.origin.replace(/^http:/, 'https:');
    const port = /:(\d+)$/.exec(s.origin)?.[0] ?? '';
    return {
      title: 'This page was not loaded over HTTPS',
      why:
        `It was loaded from ${s.origin}. From another machine, browsers allow shared memory ` +
        '(SharedArrayBuffer) on HTTPS pages only, and a rank needs it to wait for messages.',
      todo: [
        'Ask the owner of this server to start it with a certificate (mayfly server --tls-self-signed, or ' +
          `--tls-cert and --tls-key), then open ${https}/volunteer.`,
        `If the certificate is self-signed, the browser warns once: choose “Advanced”, then continue.`,
        `On the server's own machine, plain HTTP works: http://localhost${port}/volunteer.`,
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
      why:
        'The browser did not isolate the page (cross-origin isolation), so SharedArrayBuffer is missing. The ' +
        'usual cause is a proxy that removes two response headers.',
      todo: [
        'Reload once. If that does not help, try a private window without extensions, or a current Chrome, ' +
          'Edge or Firefox.',
        'Ask the owner of the proxy to pass on the headers Cross-Origin-Opener-Policy and ' +
          'Cross-Origin-Embedder-Policy.',
      ],
    };
  }
  return undefined;
}
