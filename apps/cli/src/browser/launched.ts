/** A browser that runs pages for a command: one interface over both families. */
export interface LaunchOptions {
  /** With a window. */
  show?: boolean;
  /** Chromium's own, around every page. */
  sandbox: boolean;
  /** Accept a certificate that the server made itself. */
  insecure?: boolean;
  /**
   * Origin of plain HTTP that may do what others may do with HTTPS only (shared memory): the one that the user named.
   */
  trusted?: string | undefined;
}

export interface BrowserPage {
  /** Why the page could not be loaded. */
  readonly failed: string | undefined;
  /** Loads it again. @returns why it could not be loaded */
  load(): Promise<string | undefined>;
  /** When it, or the browser, has ended by itself: why. */
  readonly gone: Promise<string>;
  /** An expression, of which the value is plain data. */
  evaluate<T>(expression: string): Promise<T>;
  /** As a person closes it. */
  close(): Promise<void>;
}

export interface LaunchedBrowser {
  /** 'Chromium 156'. */
  readonly name: string;
  readonly gone: Promise<string>;
  /** A page of its own, which shares nothing with others. */
  open(url: string): Promise<BrowserPage>;
  /** Ends the browser and removes its profile. */
  close(): Promise<void>;
}
