/**
 * The form's draft, kept in this browser (IndexedDB: files and modules belong to it) until it is submitted or dropped,
 * so that a reload or a closed tab loses nothing. Best effort: a browser that stores nothing keeps no draft. What is
 * read back is checked, because another version may have written it.
 */
import { del, get, set } from 'idb-keyval';
import { emptyDraft, type Draft } from '../draft.ts';

const KEY = 'mayfly.draft';
const VERSION = 2;

export interface Unsent {
  draft: Draft;
  example: string | undefined;
  /** ms since the epoch. */
  savedAt: number;
}

export const keepUnsent = (u: Unsent): Promise<void> => set(KEY, { version: VERSION, ...u }).catch(() => undefined);
export const dropUnsent = (): Promise<void> => del(KEY).catch(() => undefined);
export const readUnsent = (): Promise<Unsent | null> => get(KEY).then(checked, () => null);

/** Of a stored value; null when it is not a draft of this version. */
export function checked(value: unknown): Unsent | null {
  if (
    !isRecord(value) ||
    value['version'] !== VERSION ||
    typeof value['savedAt'] !== 'number' ||
    !isRecord(value['draft'])
  )
    return null;
  const draft = value['draft'] as Record<string, unknown>;
  const { example } = value;
  const model = emptyDraft();
  for (const [name, of] of Object.entries(model))
    if (typeof draft[name] !== typeof of || Array.isArray(draft[name]) !== Array.isArray(of)) return null;
  const sources = (draft['sources'] as unknown[]).every(
    (s) => isRecord(s) && typeof s['path'] === 'string' && typeof s['text'] === 'string',
  );
  const files = (draft['files'] as unknown[]).every(
    (f) => isRecord(f) && typeof f['path'] === 'string' && typeof f['bytes'] === 'number' && isContent(f['content']),
  );
  const { packed, further, rooms } = draft;
  const module =
    packed === undefined ||
    (isRecord(packed) &&
      typeof packed['path'] === 'string' &&
      packed['data'] instanceof Uint8Array &&
      ['wasm', 'archive'].includes(String(packed['language'])));
  const parts =
    further === undefined ||
    (Array.isArray(further) && further.every((f) => isRecord(f) && typeof f['size'] === 'number'));
  const places = rooms === undefined || (Array.isArray(rooms) && rooms.every((code) => typeof code === 'string'));
  if (!places || !sources || !files || !module || !parts || draft['options'] === null) return null;
  return {
    draft: draft as unknown as Draft,
    example: typeof example === 'string' ? example : undefined,
    savedAt: value['savedAt'],
  };
}

const isRecord = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null;
const isContent = (v: unknown): boolean =>
  isRecord(v) &&
  (v['kind'] === 'bytes'
    ? v['data'] instanceof Uint8Array
    : v['kind'] === 'example' && typeof v['example'] === 'string' && typeof v['path'] === 'string');
