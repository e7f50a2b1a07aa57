/** docs/errors.md, the registry and what REST answers say the same. */
import { ERRORS, MayflyError, type ErrorCode } from '@mayfly/wire';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { statusOf, toApiError } from '../src/serve/errors.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const codes = Object.keys(ERRORS) as ErrorCode[];

it('the page has every code of the registry with its status and advice, and no other', () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+|–) \| (yes|no) \| (.*) \|$/gm)].map(
    ([, code, status, again, advice]) => [code, status, again, advice],
  );
  expect(rows).toEqual(
    codes.map((c) => [
      c,
      ERRORS[c].status === 0 ? '–' : String(ERRORS[c].status),
      ERRORS[c].retry ? 'yes' : 'no',
      ERRORS[c].advice,
    ]),
  );
});

it('REST answers a code of the registry with its status, and never tells what a defect was', () => {
  for (const code of codes)
    expect(toApiError(new MayflyError(code, 'm'))).toEqual({ status: statusOf(code), body: { code, message: 'm' } });
  expect(toApiError(new Error('secret path'))).toEqual({
    status: 500,
    body: { code: 'INTERNAL', message: 'Internal server error. See the server log.' },
  });
});
