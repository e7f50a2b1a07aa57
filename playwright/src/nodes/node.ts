/** A volunteer as the faults see it: a real tab in a browser of its own, or a headless process. */
export interface VolunteerNode {
  readonly kind: 'tab' | 'headless';
  /** Unique: the server's view of the node is found by it. */
  readonly name: string;
  /** What it printed, the last lines. */
  readonly log: readonly string[];
  /** Silences it wholly (SIGSTOP): sockets stay open, nothing runs. */
  freeze(): Promise<void>;
  /** As if nothing had been. */
  thaw(): void;
  /** SIGKILL of all that it is: nobody is told. */
  kill(): Promise<void>;
  /** At the end of everything, and after a fault that left something behind. Never fails. */
  dispose(): Promise<void>;
}

const LINES = 200;

export function noteLine(log: string[], line: string): void {
  log.push(line);
  if (log.length > LINES) log.shift();
}
