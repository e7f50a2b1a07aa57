import { expect, test } from 'vitest';
import { emptyDraft } from '../draft.ts';
import { checked, draftOfCard, listed, MOST_DRAFTS, withDraft, type Unsent } from './draft-store.ts';

const stored = () => ({
  version: 2,
  savedAt: 7,
  example: 'heat',
  draft: {
    ...emptyDraft(),
    packed: { language: 'wasm', path: 'a.out', data: new Uint8Array(3) },
    files: [
      { path: 'x', bytes: 2, content: { kind: 'bytes', data: new Uint8Array(2) } },
      { path: 'y', bytes: 1, content: { kind: 'example', example: 'cg', path: 'y' } },
    ],
  },
});

test('a draft comes back as it was stored', () => {
  const { draft, example, savedAt } = stored();
  expect(checked(stored())).toEqual({ draft, example, savedAt });
});

test('what is not a draft of this version does not', () => {
  const broken: unknown[] = [
    undefined,
    null,
    'text',
    {},
    { ...stored(), version: 1 },
    { ...stored(), savedAt: 'now' },
    { ...stored(), draft: null },
  ];
  for (const part of [
    { size: '4' },
    { sources: {} },
    { sources: [{ path: 'a.ts' }] },
    { files: [{ path: 'x', bytes: 2, content: { kind: 'bytes', data: [1] } }] },
    { packed: { language: 'elf', path: 'a', data: new Uint8Array() } },
    { options: null },
  ])
    broken.push({ ...stored(), draft: { ...stored().draft, ...part } });
  const { name: _name, ...unnamed } = stored().draft;
  broken.push({ ...stored(), draft: unnamed });
  expect(broken.map(checked)).toEqual(broken.map(() => null));
});

const unsent = (id: string, savedAt: number, example?: string): Unsent => ({
  id,
  savedAt,
  example,
  draft: { ...emptyDraft(), name: id },
});

test('I1: a draft replaces itself, and no other one', () => {
  const own = unsent('own', 1);
  const heat = unsent('heat', 2, 'heat');
  const again = unsent('own', 3);
  const list = withDraft(withDraft([own], heat).kept, again).kept;
  expect(list).toEqual([again, heat]);
  expect(draftOfCard(list, undefined)).toBe(again);
  expect(draftOfCard(list, 'heat')).toBe(heat);
  expect(draftOfCard(list, 'pi')).toBeUndefined();
});

test('I2: of many drafts the oldest go', () => {
  let list: Unsent[] = [];
  const gone: string[] = [];
  for (let i = 0; i < MOST_DRAFTS + 2; i++) {
    const next = withDraft(list, unsent(`d${i}`, i));
    list = next.kept;
    gone.push(...next.gone);
  }
  expect(list).toHaveLength(MOST_DRAFTS);
  expect(gone).toEqual(['d0', 'd1']);
});

test('drafts are read back newest first, and nothing else', () => {
  const at = (savedAt: number) => ({ ...stored(), savedAt });
  const list = listed([
    ['mayfly.draft.old', at(1)],
    ['mayfly.draft.abc', at(5)],
    ['mayfly.draft.broken', { version: 1 }],
    ['mayfly.drafty', at(9)],
    ['other', at(9)],
  ]);
  expect(list.map((d) => [d.id, d.savedAt])).toEqual([
    ['abc', 5],
    ['old', 1],
  ]);
});
