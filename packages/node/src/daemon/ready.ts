/** What the daemon's worker sends first, once its script runs. */
export const READY = 'mayfly:ready';
