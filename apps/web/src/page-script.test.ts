import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pageHeaders, widgetHeaders } from '@mayfly/node/frame-headers';

it('allows the script in the page itself, and no other', () => {
  const html = readFileSync(join(import.meta.dirname, '../index.html'), 'utf8');
  const hashes = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(
    ([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
  );
  for (const headers of [pageHeaders, widgetHeaders])
    expect(headers['Content-Security-Policy']!.match(/'sha256-[^']*'/g)).toEqual(hashes);
});
