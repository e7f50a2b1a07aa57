/** Rows of a list that somebody watches: each keeps its place while things come, go and change their order. Pure. */

export interface Row<T> {
  id: string;
  /** As it is now; of what is gone, as it was last. */
  item: T;
  gone: boolean;
}

export interface Rows<T> {
  rows: readonly Row<T>[];
  /** What the list would show besides if it were made anew. */
  newcomers: readonly T[];
}

/** What a list has to tell of: all that is there now, and of that what belongs into the list, in its order. */
export interface Things<T> {
  all: readonly T[];
  listed: readonly T[];
  id(t: T): string;
}

export const renewed = <T>({ listed, id }: Things<T>): Rows<T> => ({
  rows: listed.map((item) => ({ id: id(item), item, gone: false })),
  newcomers: [],
});

/**
 * Rows go on in their places, whatever the order would be by now. `join`: newcomers take the places of the gone, and
 * the end; else they wait.
 */
export function held<T>(before: readonly Row<T>[], things: Things<T>, join: boolean): Rows<T> {
  const now = new Map(things.all.map((t) => [things.id(t), t]));
  const rows = before.map((r): Row<T> => {
    const item = now.get(r.id);
    return item === undefined ? { ...r, gone: true } : { id: r.id, item, gone: false };
  });
  const shown = new Set(before.map((r) => r.id));
  const newcomers = things.listed.filter((t) => !shown.has(things.id(t)));
  if (!join) return { rows, newcomers };
  const free = rows.flatMap((r, i) => (r.gone ? [i] : []));
  newcomers.forEach((item, n) => (rows[free[n] ?? rows.length] = { id: things.id(item), item, gone: false }));
  return { rows, newcomers: [] };
}
