/** What page and daemon worker call of each other, through comlink. */
import type { JobId } from '@mayfly/wire';
import type { VolunteerSnapshot } from '../page/snapshot.ts';
import type { DaemonOptions, Identity } from './seams.ts';

/** The page's side. */
export interface PageHost {
  /** Makes a sandboxed frame; the port leads to its comm worker. */
  openFrame(frame: number): Promise<MessagePort>;
  /** Holds a Web Lock as long as a job is here, and returns its name: the daemon waits for it. */
  hold(job: JobId): Promise<string | undefined>;
  letGo(job: JobId): void;
  closeFrame(frame: number): void;
  saveIdentity(identity: Identity | undefined): void;
  onChange(snapshot: VolunteerSnapshot): void;
  onNote(text: string): void;
}

/** The daemon worker's side. */
export interface DaemonApi {
  /** Resolves when the server welcomed the node. @throws with `code` when it refuses it */
  /** `held`: it begins paused, for this reason; then it resolves at once. */
  start(
    options: DaemonOptions,
    host: PageHost,
    identity: Identity | undefined,
    held: string | undefined,
  ): Promise<void>;
  /** The last snapshot. The caller may end the worker before a change could be reported. */
  stop(reason: string, patience: number): Promise<VolunteerSnapshot | undefined>;
  /** Gives the ranks back and leaves, until `resume`. `why`: for people. */
  rest(reason: string, why: string): Promise<void>;
  /** Resolves like `start`. */
  resume(): Promise<void>;
  hurry(): void;
  setShare(percent: number): void;
  picture(job: JobId): Promise<{ path: string; bytes: Uint8Array<ArrayBuffer> } | undefined>;
  setSlots(slots: number): void;
  setName(name: string): void;
  foresee(): void;
  farewell(reason: string): void;
  frameDied(frame: number, why: string): void;
}
