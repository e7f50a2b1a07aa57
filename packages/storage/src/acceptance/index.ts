/**
 * One acceptance suite per port. Every adapter runs it, and so does the simulator's faulty store: what passes here may
 * stand in for any other. To be called from a Vitest file.
 */
export { archiveSuite, type ArchiveAndFiles } from './archive.ts';
export { imageStoreSuite } from './image-store.ts';
export { jobFilesSuite } from './job-files.ts';
export { jobOutputSuite, type OutputAndFiles } from './job-output.ts';
export { messageLogSuite } from './message-log.ts';
export { registrySuite, type RegistrySubject } from './registry.ts';
export type { Subject } from './subject.ts';
