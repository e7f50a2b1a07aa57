/**
 * The gate of one cluster (coordinated/gate.ts): it cuts the channels within the cluster. Messages from other clusters
 * pass without it, once they may be received, and are not part of the wave: their log gives again what an image lacks
 * (G10). Only bodies of consumed arrivals are recorded of them, as of all others.
 */
import type { TaskId } from '@mayfly/wire';
import { Gate } from '../coordinated/gate.ts';

export class ClusterGate extends Gate {
  /** The task has no door here: it is of another cluster. */
  #foreign(src: TaskId): boolean {
    return src < this.state.doors.length && !this.state.doors[src];
  }

  /** All Channel Memories of the job hear of a wave in one step (Y6 of clusters-of-job.ts). */
  protected override comesEarly(): boolean {
    return false;
  }

  protected override holds(src: TaskId, dst: TaskId, channel: number): boolean {
    return !this.#foreign(src) && super.holds(src, dst, channel);
  }

  protected override records(src: TaskId, dst: TaskId, channel: number): boolean {
    return !this.#foreign(src) && super.records(src, dst, channel);
  }

  protected override complete(dst: TaskId): boolean {
    const { doors, cuts, seen } = this.state;
    return cuts.every((cut, from) => {
      const src = from - (cuts.length - doors.length);
      if (src >= 0 && !doors[src]) return true;
      return cut && (seen[from]![dst] ?? 0) >= (cut[dst] ?? 0);
    });
  }
}
