/** The user's disk as the tools for object files see it: of a linked program the module, without its launcher. */
import { DiskFiles, type FileStat } from '@mayfly/toolchain/c';
import { moduleOffset } from '@mayfly/toolchain/launcher';

export class ProgramFiles extends DiskFiles {
  /** By path: what stood before the module when it was read first. */
  readonly #launchers = new Map<string, Uint8Array>();

  override read(path: string): Uint8Array | undefined {
    const bytes = super.read(path);
    const at = bytes ? (moduleOffset(bytes) ?? 0) : 0;
    if (at > 0 && !this.#launchers.has(path)) this.#launchers.set(path, bytes!.slice(0, at));
    return bytes?.subarray(at);
  }

  override stat(path: string): FileStat | undefined {
    const s = super.stat(path);
    return s?.kind === 'file' ? { ...s, size: this.read(path)?.length ?? s.size } : s;
  }

  /** Programs that a tool has written again can be started again. */
  restore(): void {
    for (const [path, head] of this.#launchers) {
      const bytes = super.read(path);
      if (bytes && moduleOffset(bytes) === 0) this.write(path, Buffer.concat([head, bytes]), true);
    }
  }
}
