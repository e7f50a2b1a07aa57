/** Failures of processes, as ULFM has them. */
export * from './calls.ts';
export { needWhole, startRecovery } from './recover.ts';
export { ftModesOf, needsRecovery } from './recovery.ts';
export type { Agreed, FailuresState } from './state.ts';
