/** Failures of processes, as ULFM has them. */
export * from './calls.ts';
export type { Agreed, FailuresState } from './state.ts';
