/** An event of a core as its sender has it: the time comes with the step. */
export type Timeless<E> = E extends unknown ? Omit<E, 'now'> : never;
