/** Where the lanes stand on the canvas, in px, and which ranks and times they show. */
export interface Plot {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Rank in the first row (perhaps a part of it), px per row. */
  firstRow: number;
  rowHeight: number;
  from: number;
  to: number;
  since: number;
}
