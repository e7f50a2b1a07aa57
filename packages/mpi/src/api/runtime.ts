/**
 * What the TypeScript API needs from its host besides the Device, implemented by the rank host of packages/node.
 * Everything is synchronous.
 */
import type { ExitReport } from '@mayfly/wire';

/**
 * A checkpoint on its way to the host. The parts are views that hold only during the call: copy each once, to where the
 * image goes.
 */
export interface CheckpointImage {
  /**
   * In this order. Each section is its parts one behind the other. 'arrays' stands first, so that unchanged pages stay
   * on their places.
   */
  readonly sections: readonly { readonly name: string; readonly parts: readonly Uint8Array[] }[];
  /** Arrivals consumed whose bodies are still in the log: into the manifest's `replay.held`. */
  readonly held: readonly number[];
}

/** An image that came back: sections by name, whole. The API keeps views of them until the data is rolled back. */
export type RestoredImage = Readonly<Record<string, Uint8Array>>;

export interface Runtime {
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** Environment variables of the job. The same in every incarnation. */
  readonly env?: Readonly<Record<string, string>>;
  /** Paths of the input files. The same in every incarnation. */
  inputFiles(): readonly string[];
  /** The bytes of an input file (of `inputFiles`), fetched when first asked for; may block. The API copies them. */
  readInput(path: string): Uint8Array;
  /** Name of the node. The API logs it as a determinant (device.place), and asks only when live. */
  processorName(): string;

  /**
   * The program reached checkpoint.open, at most once: the end of its prologue. Incarnation without an image: remembers
   * the endpoint's line as the prologue's end (`ep.openPrologue()`) and returns undefined. With an image: `ep.jump()`
   * to its line, and returns its sections. Called between two operations of the device; afterwards the layer's state is
   * replaced by the image's.
   */
  openCheckpoint(): RestoredImage | undefined;
  /**
   * At each checkpoint.here. True when a checkpoint is due: the interval is over, or one was asked for (node leaves,
   * request of the user). `force`: the program wants one whatever the time; a rank whose team takes images together may
   * have it later, or not at all.
   */
  checkpointDue(force: boolean): boolean;
  /**
   * May be ignored while the incarnation still replays. Takes the image, with the endpoint's line as it is now; returns
   * when the parts are copied. Upload goes on elsewhere.
   */
  saveCheckpoint(image: CheckpointImage): void;
  /** The program's own interval, ms; undefined: the job's. */
  setCheckpointInterval(ms: number | undefined): void;

  /** An error that the program did not catch, for its exit report: the host maps the stack back to the sources. */
  describeError?(error: unknown): { message: string; stack?: string };
  /**
   * The task is over. The EXIT message has already been given to the device. Does not return: it lets the ring drain,
   * tells the comm worker, and blocks or throws past the program (which might catch).
   */
  end(report: ExitReport): never;
}
