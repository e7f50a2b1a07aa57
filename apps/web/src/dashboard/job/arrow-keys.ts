/** Where an arrow key leads in a grid of `total` cells, `columns` to a row. undefined: the key is not ours. Pure. */
export function arrowTarget(key: string, at: number, total: number, columns: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, at - 1);
    case 'ArrowRight':
      return Math.min(total - 1, at + 1);
    case 'ArrowUp':
      return at - columns >= 0 ? at - columns : at;
    case 'ArrowDown':
      return at + columns < total ? at + columns : at;
    case 'Home':
      return 0;
    case 'End':
      return total - 1;
    default:
      return undefined;
  }
}
