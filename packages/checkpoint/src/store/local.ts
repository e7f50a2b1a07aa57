/**
 * A node's own copies of its ranks' images, so that a reload restarts from the local disk. A cache: the server's copy is the truth, a
 * loss costs a download, and every page is hashed again when it is used.
 */
import type { ImageId, JobId, Manifest, TaskId } from '@mayfly/wire';

export interface LocalImage {
  job: JobId;
  task: TaskId;
  image: ImageId;
}

export interface LocalImages {
  list(): Promise<LocalImage[]>;
  manifest(image: ImageId): Promise<Manifest | undefined>;
  page(hash: string): Promise<Uint8Array | undefined>;
  /** `pages` holds what the store may not have yet. Keeps the newest {@link KEPT} images of a task; an older serial is ignored. */
  put(manifest: Manifest, pages: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /** The job is over here. */
  forget(job: JobId, task?: TaskId): Promise<void>;
  close(): Promise<void>;
}

/** Images kept per task, as at the Checkpoint Server. */
export const KEPT = 2;

/** Which images a task's newest ones supersede. */
export function superseded(manifests: readonly Manifest[], newest: Manifest): Manifest[] {
  const mine = manifests.filter((m) => m.job === newest.job && m.task === newest.task && m.image !== newest.image);
  mine.push(newest);
  mine.sort((a, b) => b.incarnation - a.incarnation || b.serial - a.serial);
  return mine.slice(KEPT);
}
