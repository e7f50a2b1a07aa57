/** What a suite needs to know of an adapter. */
export interface Subject<Port> {
  /** Opens the store; after `close` or `crash` it opens the same one again. */
  open(): Promise<Port>;
  /**
   * The process dies without closing (`kill -9`): what had reached the kernel stays. Called with the port that is open.
   * Adapters that cannot imitate it in the same process leave it out and prove it elsewhere.
   */
  crash?(port: Port): Promise<void>;
  /** The machine loses power: only what was synced need stay. */
  powerLoss?(port: Port): Promise<void>;
  /** The disk becomes full, in the middle of the next write; or has room again. */
  fill?(full: boolean): void;
  dispose(): Promise<void>;
}
