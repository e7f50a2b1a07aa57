import { expect, test } from 'vitest';
import { csvOf } from '../report/profile.ts';
import { csvCell, downloadName } from './downloads.ts';

test('a download has a plain name, whatever a job or file is called', () => {
  expect(downloadName('pi.c-events.csv')).toBe('pi.c-events.csv');
  expect(downloadName('../../.bashrc')).toBe('_.._.bashrc');
  expect(downloadName('..\\a:b|c')).toBe('_a_b_c');
  expect(downloadName('vsc.\u202eexe.csv\n')).toBe('vsc.exe.csv ');
  expect(downloadName('\u200b..')).toBe('download');
});

test('no cell of CSV is a formula, or becomes two', () => {
  expect(['MPI_Recv', 'halo (main.c:5)', 'a,b', 'say "x"', 'a\nb'].map(csvCell)).toEqual([
    'MPI_Recv',
    'halo (main.c:5)',
    '"a,b"',
    '"say ""x"""',
    'a b',
  ]);
  for (const begin of ['=', '+', '-', '@', '\t=', '\r@', '\u202e=', ' =']) expect(csvCell(`${begin}1`)).toMatch(/^'/);
  const formula = '=HYPERLINK("https://evil.example","see")';
  const call = { call: formula, ms: 1, times: 1, places: [{ place: formula, ms: 1 }] };
  const csv = csvOf([{ rank: 0, ms: {}, calls: [call] } as never]);
  const quoted = `"'=HYPERLINK(""https://evil.example"",""see"")"`;
  expect(csv.split('\n').slice(1, 3)).toEqual([`0,waiting,${quoted},1,1,`, `0,waiting at,${quoted},1,,${quoted}`]);
});
