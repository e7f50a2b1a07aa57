/** All Channel Memories of the jobs that are open, by job and index, and the door to them. */
import type { JobSpec } from '@mayfly/protocols';
import { MAX_CHANNEL_MEMORIES, checkedLength, type JobId } from '@mayfly/wire';
import type { Logger } from '../logger.ts';
import { LinkPlaces, type LinkLimits } from './link-places.ts';
import type { Capabilities } from '../secrets.ts';
import type { CmDeps } from './channel-memory-deps.ts';
import { ChannelMemoryHost } from './channel-memory-host.ts';
import { DataDoor } from './data-door.ts';
import { Traffic } from './traffic.ts';

export class ChannelMemories {
  readonly #jobs = new Map<JobId, ChannelMemoryHost[]>();
  /** Messages that pass no Channel Memory, because their ranks are a team. */
  readonly #local = new Map<JobId, Traffic>();
  readonly door: DataDoor;

  constructor(capabilities: Capabilities, logger: Logger, limits: LinkLimits) {
    this.door = new DataDoor(
      (job, index) => this.#jobs.get(job)?.[index],
      capabilities,
      logger,
      new LinkPlaces(limits),
    );
  }

  add(job: JobId, size: number, hosts: ChannelMemoryHost[]): void {
    this.#jobs.set(job, hosts);
    this.#local.set(job, new Traffic(size));
  }
  local(job: JobId): Traffic | undefined {
    return this.#local.get(job);
  }
  /** All that its messages are counted by. */
  traffic(job: JobId): Traffic[] {
    const local = this.#local.get(job);
    return [...(this.#jobs.get(job) ?? []).map((h) => h.traffic), ...(local ? [local] : [])];
  }
  of(job: JobId): readonly ChannelMemoryHost[] | undefined {
    return this.#jobs.get(job);
  }
  all(): ChannelMemoryHost[] {
    return [...this.#jobs.values()].flat();
  }
  /** Bytes of the logs of every open job. */
  *logs(): Iterable<[JobId, number]> {
    for (const job of this.#jobs.keys()) yield [job, this.logBytes(job)];
  }
  /** …of one job; 0: it is not open. */
  logBytes(job: JobId): number {
    return (this.#jobs.get(job) ?? []).reduce((n, h) => n + h.logBytes, 0);
  }
  /** The job has ended: its links close when its hosts do. */
  take(job: JobId): ChannelMemoryHost[] {
    const hosts = this.#jobs.get(job) ?? [];
    this.#jobs.delete(job);
    this.#local.delete(job);
    return hosts;
  }

  /** Storage stops, or can be written again. */
  hold(on: boolean): void {
    for (const h of this.all()) h.hold(on);
  }

  tick(now: number): void {
    for (const hosts of this.#jobs.values()) for (const h of hosts) h.tick(now);
  }
}

/** One for each Channel Memory of the job. @param size tasks that it has by now */
export function memoriesOf(spec: JobSpec, size: number, deps: CmDeps): ChannelMemoryHost[] {
  const { id: job, channelMemories: count, clusters: homes, protocol, durability } = spec;
  return Array.from(
    { length: checkedLength(count, MAX_CHANNEL_MEMORIES) },
    (_, index) => new ChannelMemoryHost({ job, index, count, homes, size, protocol, durability }, deps),
  );
}
