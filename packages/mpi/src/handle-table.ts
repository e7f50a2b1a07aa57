/**
 * A table of objects by integer handle. Plain data: a Map and a counter, both of which an image stores. Handles are not
 * reused.
 */
export interface Table<T> {
  next: number;
  rows: Map<number, T>;
}

export const table = <T>(): Table<T> => ({ next: 1, rows: new Map() });

export function insert<T>(t: Table<T>, row: T): number {
  const handle = t.next++;
  t.rows.set(handle, row);
  return handle;
}
