/** The order of a table that sorts by its columns. Pure. */

export type Key = string | number | undefined;

/** What is not known comes last, either way round; equals keep their order. */
export const sortedBy = <T>(items: readonly T[], key: (item: T) => Key, down: boolean): T[] =>
  items.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? 1 : -1;
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
