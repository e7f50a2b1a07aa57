/**
 * Bodies of messages to the file service that are not file requests: results that stdio wrote, and spawn requests.
 * undefined: malformed.
 */
import { Check } from 'typebox/value';
import { AT_END, MESSAGE_JSON, SpawnRequest, WorldMode, getU53, parseJson, type FileRequest } from '@mayfly/wire';
import { GONE } from './effects.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function readSpawn(r: FileRequest): SpawnRequest | undefined {
  try {
    const parts: unknown = parseJson(utf8.decode(r.data), MESSAGE_JSON);
    return Check(SpawnRequest, parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

/** Body of FILE and CUT: u16 name length, name, u64 offset or length, bytes. */
export function readResult(body: Uint8Array): { path: string; offset: number; bytes: Uint8Array } | undefined {
  if (body.length < 10) return undefined;
  const v = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const n = v.getUint16(0, true);
  if (body.length < 10 + n) return undefined;
  const offset = getU53(v, 2 + n);
  const bytes = body.subarray(10 + n);
  if (
    !Number.isSafeInteger(offset) ||
    (offset !== GONE && offset !== AT_END && !Number.isSafeInteger(offset + bytes.length))
  )
    return undefined;
  try {
    return { path: utf8.decode(body.subarray(2, 2 + n)), offset, bytes };
  } catch {
    return undefined;
  }
}

/** S10 of file-service.ts. */
export const atEnd = (mode: number, offset: number): boolean => mode === WorldMode.FILE && offset === AT_END;
