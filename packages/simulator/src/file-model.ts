/**
 * An independent model of a job's files, without the service: requests applied one after the other to plain arrays. The
 * checkers hold what the service answers and what lies on its disk against it; the oracle executes programs with it.
 */
import { FileOp, decodeFileRequest, encodeFileValues } from '@mayfly/wire';

export interface Asked {
  readonly task: number;
  /** Number of the message to the world. */
  readonly channel: number;
  readonly body: Uint8Array;
}

export class FileModel {
  readonly files = new Map<string, number[]>();
  private readonly open = new Map<number, { path: string; pointer: number }>();
  private sessions = 0;

  /** @param tasks those that the job was started with */
  constructor(private readonly tasks: number) {}

  /** Takes effect, and answers; a read answers what is there now. undefined: an error. */
  apply(body: Uint8Array): Uint8Array | undefined {
    const r = decodeFileRequest(body)!;
    if (r.op === FileOp.OPEN) {
      const file = this.files.get(r.name) ?? [];
      this.files.set(r.name, file);
      this.open.set(++this.sessions, { path: r.name, pointer: 0 });
      return encodeFileValues(this.sessions, file.length);
    }
    if (r.op === FileOp.SPAWN) {
      const [part] = JSON.parse(new TextDecoder().decode(r.data)) as [{ count: number }];
      return encodeFileValues(this.tasks, part.count);
    }
    const s = this.open.get(r.session);
    if (!s) return undefined;
    const file = this.files.get(s.path)!;
    const [offset = 0, bytes = 0] = r.segments;
    switch (r.op) {
      case FileOp.READ:
        return Uint8Array.from(file.slice(offset, offset + bytes));
      case FileOp.WRITE:
        while (file.length < offset + bytes) file.push(0);
        r.data.forEach((b, i) => (file[offset + i] = b));
        return encodeFileValues(bytes);
      case FileOp.ADVANCE:
        s.pointer += r.value;
        return encodeFileValues(s.pointer - r.value);
      case FileOp.SIZE:
        return encodeFileValues(file.length);
      case FileOp.CLOSE:
        this.open.delete(r.session);
        return encodeFileValues(0);
      default:
        return undefined;
    }
  }
}
