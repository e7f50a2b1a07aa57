/**
 * The form's drafts, kept in this browser (IndexedDB: files and modules belong to them) until each is submitted or
 * dropped, so that a reload, a closed tab or the choice of another example loses nothing. Best effort: a browser that
 * stores nothing keeps drafts while the page is open. What is read back is checked, because another version may have
 * written it.
 *
 * Owns: the drafts of this page, and their entries in the store.
 *   I1 One entry per draft, named by its id: what one writes, in this tab or in another, replaces no other program.
 *   I2 At most MOST_DRAFTS are kept; the oldest goes first.
 */
import { delMany, entries, set } from 'idb-keyval';
import { emptyDraft, type Draft } from '../draft.ts';

/** Of the store's keys. */
const PREFIX = 'mayfly.draft.';
const VERSION = 2;
export const MOST_DRAFTS = 12;

export interface Unsent {
  /** Of the program that it began as. */
  id: string;
  draft: Draft;
  /** The card that it began from; undefined: one's own program. */
  example: string | undefined;
  /** ms since the epoch. */
  savedAt: number;
}

export const newId = (): string => Math.random().toString(36).slice(2, 12);

let drafts: readonly Unsent[] | undefined;

/** All of them, newest first. */
export async function readDrafts(): Promise<readonly Unsent[]> {
  drafts ??= listed(await entries<string, unknown>().catch(() => []));
  return drafts;
}

/** The list with this one in it, in place of what it was before. */
export function withDraft(list: readonly Unsent[], u: Unsent): { kept: Unsent[]; gone: string[] } {
  const all = [u, ...list.filter((d) => d.id !== u.id)].sort((a, b) => b.savedAt - a.savedAt);
  return { kept: all.slice(0, MOST_DRAFTS), gone: all.slice(MOST_DRAFTS).map((d) => d.id) }; // I2
}

/** What a card of the gallery opens, if one has worked on it: the newest draft that began there. */
export const draftOfCard = (list: readonly Unsent[], example: string | undefined): Unsent | undefined =>
  list.find((d) => d.example === example);

export function keepDraft(u: Unsent): readonly Unsent[] {
  const { kept, gone } = withDraft(drafts ?? [], u);
  drafts = kept;
  void set(keyOf(u.id), { version: VERSION, ...u }).catch(() => undefined);
  void remove(gone);
  return kept;
}

export async function dropDraft(id: string): Promise<readonly Unsent[]> {
  drafts = (drafts ?? []).filter((d) => d.id !== id);
  await remove([id]);
  return drafts;
}

const keyOf = (id: string): string => PREFIX + id;
const remove = (ids: readonly string[]): Promise<void> => delMany(ids.map(keyOf)).catch(() => undefined);

/** Of all that is stored here, which may be other things too. */
export function listed(stored: readonly (readonly [string, unknown])[]): readonly Unsent[] {
  let list: Unsent[] = [];
  for (const [key, value] of stored) {
    if (!String(key).startsWith(PREFIX)) continue;
    const found = checked(value);
    if (found) list = withDraft(list, { ...found, id: key.slice(PREFIX.length) }).kept;
  }
  return list;
}

/** Of a stored value; null when it is not a draft of this version. */
export function checked(value: unknown): Omit<Unsent, 'id'> | null {
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
