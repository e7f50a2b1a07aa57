/** Messages to the file service, as tasks send them. */
import { WorldMode, encodeFileRequest, taskId, type FileOp, type Segments } from '@mayfly/wire';
import type { MemoryFiles } from '../../src/index.ts';

const text = new TextEncoder();

export function request(
  op: FileOp,
  r: { name?: string; session?: number; value?: number; segments?: Segments; data?: Uint8Array },
): Uint8Array {
  const { body, data } = encodeFileRequest(op, { ...r, bytes: r.data?.length ?? 0 });
  if (r.data) data.set(r.data);
  return body;
}
export function result(path: string, offset: number, bytes = new Uint8Array(0)): Uint8Array {
  const name = text.encode(path);
  const out = new Uint8Array(10 + name.length + bytes.length);
  const v = new DataView(out.buffer);
  v.setUint16(0, name.length, true);
  out.set(name, 2);
  v.setUint32(2 + name.length, offset >>> 0, true);
  v.setUint32(6 + name.length, Math.floor(offset / 4294967296), true);
  out.set(bytes, 10 + name.length);
  return out;
}

/** One task speaks. */
export function client(files: MemoryFiles, task = 0) {
  let n = 0;
  return (op: FileOp, r: Parameters<typeof request>[1]) =>
    files.deliver(taskId(task), ++n, WorldMode.REQUEST, request(op, r))!;
}
