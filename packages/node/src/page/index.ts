/**
 * The volunteer for the web app: main-thread side. It owns the daemon worker, the sandboxed frames, this tab's identity
 * and its locks.
 */
export * from './snapshot.ts';
export { NO_WISHES, timeOfDay, type Hours, type Wishes } from './policy.ts';
export { mayDetectIdle } from './machine-state.ts';
export { whyNotHere } from './browser-support.ts';
export { createVolunteer, NOTHING_GIVEN, type Volunteer, type VolunteerOptions } from './volunteer.ts';
