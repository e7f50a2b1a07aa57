/** Failures of processes, as ULFM has them. */
export * from './calls.ts';
export { ftModesOf, needWhole, needsRecovery, startRecovery } from './recovery.ts';
export type { Agreed, FailuresState } from './state.ts';
