/** What page and daemon worker call of each other, through comlink. */
import type { VolunteerSnapshot } from '../page/snapshot.ts';
import type { DaemonOptions, Identity } from './seams.ts';

/** The page's side. */
export interface PageHost {
  /** Makes a sandboxed frame; the port leads to its comm worker. */
  openFrame(frame: number): Promise<MessagePort>;
  closeFrame(frame: number): void;
  saveIdentity(identity: Identity | undefined): void;
  onChange(snapshot: VolunteerSnapshot): void;
  onNote(text: string): void;
}

/** The daemon worker's side. */
export interface DaemonApi {
  /** Resolves when the server welcomed the node. @throws with `code` when it refuses it */
  start(options: DaemonOptions, host: PageHost, identity: Identity | undefined, awakeLock: string): Promise<void>;
  stop(reason: string): Promise<void>;
  setSlots(slots: number): void;
  setName(name: string): void;
  checkpoint(): void;
  farewell(reason: string): void;
  frameDied(frame: number, why: string): void;
}
