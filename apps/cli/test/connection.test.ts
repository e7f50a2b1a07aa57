import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findConnection } from '../src/connection.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mayfly-home-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('findConnection', () => {
  it('takes options before the environment before the file, and undefined where nothing is named', async () => {
    expect(await findConnection({}, { HOME: home })).toBeUndefined();
    await mkdir(join(home, '.config/mayfly'), { recursive: true });
    await writeFile(
      join(home, '.config/mayfly/config.json'),
      '{"server":"https://file.example","token":"of-the-file"}',
    );
    expect(await findConnection({}, { HOME: home })).toEqual({
      server: 'https://file.example',
      token: 'of-the-file',
      insecure: false,
    });
    const env = { HOME: home, MAYFLY_SERVER: 'http://env.example:7070/', MAYFLY_TOKEN: 'of-the-env' };
    expect(await findConnection({}, env)).toEqual({
      server: 'http://env.example:7070',
      token: 'of-the-env',
      insecure: false,
    });
    expect(await findConnection({ server: 'localhost:7071', token: 't', insecure: true }, env)).toEqual({
      server: 'http://localhost:7071',
      token: 't',
      insecure: true,
    });
  });

  it('gives the token of the file to no other server', async () => {
    expect((await findConnection({ server: 'http://other.example' }, { HOME: home }))!.token).toBeUndefined();
  });

  it('says what is wrong with a URL', async () => {
    await expect(findConnection({ server: 'ftp://x' }, { HOME: home })).rejects.toThrow(/http/);
  });
});
