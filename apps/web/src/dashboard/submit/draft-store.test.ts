import { expect, test } from 'vitest';
import { emptyDraft } from '../draft.ts';
import { checked } from './draft-store.ts';

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
