/** A replacement in a widened text: bytes of a line, from 1, the end exclusive. */
export interface Edit {
  readonly path: string;
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}
