/** Messages and bytes by task, counted where they are logged: for the dashboard only. */
import { FILES, Flag, HEADER_BYTES, Kind, WORLD, frameBytes, readHeader, type TaskId } from '@mayfly/wire';

export interface TaskTraffic {
  messagesIn: number;
  bytesIn: number;
  messagesOut: number;
  bytesOut: number;
}

export class Traffic {
  readonly #tasks = new Map<TaskId, TaskTraffic>();

  get(task: TaskId): Readonly<TaskTraffic> | undefined {
    return this.#tasks.get(task);
  }
  clear(): void {
    this.#tasks.clear();
  }

  /** One record of a stream: a frame, or a record of the core's own, which is passed over. */
  count(stream: string, bytes: Uint8Array): void {
    if ((stream[0] !== 't' && stream[0] !== 'w') || bytes.length < HEADER_BYTES) return;
    const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let o = 0; o + HEADER_BYTES <= bytes.length; ) {
      const h = readHeader(v, o);
      if (h.kind !== Kind.DATA && h.kind !== Kind.ARRIVAL) return;
      const last = (h.flags & Flag.LAST) !== 0 ? 1 : 0;
      if (h.dst !== WORLD) {
        const t = this.#of(h.dst);
        t.messagesIn += last;
        t.bytesIn += h.bytes;
      }
      if (h.src !== WORLD && h.src !== FILES) {
        const t = this.#of(h.src);
        t.messagesOut += last;
        t.bytesOut += h.bytes;
      }
      o += frameBytes(h);
    }
  }

  #of(task: TaskId): TaskTraffic {
    let t = this.#tasks.get(task);
    if (!t) this.#tasks.set(task, (t = { messagesIn: 0, bytesIn: 0, messagesOut: 0, bytesOut: 0 }));
    return t;
  }
}
