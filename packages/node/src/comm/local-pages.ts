/** Pages of the node's local image store, which lives with the daemon (the sandboxed frame has no storage). */
import type { CommSeams } from './seams.ts';

/** A daemon that cannot answer costs a download, not the restart. */
const PATIENCE_MS = 2000;

export class LocalPages {
  private readonly asked = new Map<string, ((bytes: Uint8Array | undefined) => void)[]>();

  constructor(
    private readonly seams: CommSeams,
    private readonly ask: (hash: string) => void,
  ) {}

  get(hash: string): Promise<Uint8Array | undefined> {
    return new Promise((resolve) => {
      const others = this.asked.get(hash);
      if (others) others.push(resolve);
      else {
        this.asked.set(hash, [resolve]);
        this.ask(hash);
      }
      this.seams.after(PATIENCE_MS, () => resolve(undefined));
    });
  }

  answer(hash: string, bytes: Uint8Array | undefined): void {
    for (const resolve of this.asked.get(hash) ?? []) resolve(bytes);
    this.asked.delete(hash);
  }
}
