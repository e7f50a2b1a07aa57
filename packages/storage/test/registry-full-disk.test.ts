/**
 * The registry on a disk that fills, fails to sync, or cannot be opened for more files: the commit is rejected with the
 * reason, and nothing else has changed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFileRegistry, type FileRegistry } from '../src/index.ts';
import { temporary } from './temporary.ts';

const disk = vi.hoisted(() => ({
  writes: Infinity,
  half: false,
  sync: undefined as string | undefined,
  open: undefined as string | undefined,
}));
const failure = (code: string): Error => Object.assign(new Error(`${code}: it does not work, write`), { code });

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return {
    ...fs,
    writeSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number {
      if (disk.writes-- > 0) return fs.writeSync(fd, buffer, offset, length, position);
      fs.writeSync(fd, buffer, offset, length >> 1, position);
      throw failure('ENOSPC');
    },
    openSync(path: string, flags: string, mode: number): number {
      if (disk.open !== undefined) throw failure(disk.open);
      return fs.openSync(path, flags, mode);
    },
    fdatasync(fd: number, done: (error: Error | null) => void): void {
      if (disk.sync !== undefined) setImmediate(() => done(failure(disk.sync!)));
      else fs.fdatasync(fd, done);
    },
  };
});

describe('the registry on a failing disk', () => {
  let dir: Awaited<ReturnType<typeof temporary>>;
  let registry: FileRegistry;
  const well = (): void => void Object.assign(disk, { writes: Infinity, sync: undefined, open: undefined });
  beforeEach(async () => {
    well();
    dir = await temporary();
    registry = await openFileRegistry(dir.path, { logBytes: 2000 });
    await registry.commit([
      ['a', 1],
      ['old', 'x'],
    ]);
  });
  afterEach(async () => {
    well();
    await registry.close();
    await dir.dispose();
  });
  const files = (): string =>
    readdirSync(dir.path)
      .filter((f) => f !== 'reserve')
      .sort()
      .map((f) => `${f} ${readFileSync(join(dir.path, f)).toString('hex')}`)
      .join('\n');
  const again = async (): Promise<[string, unknown][]> => {
    await registry.close();
    registry = await openFileRegistry(dir.path, { logBytes: 2000 });
    return registry.entries('');
  };

  it('G7: a commit that cannot be written counts for nobody who expects what was before it', async () => {
    disk.writes = 0;
    const [first, second, third] = await Promise.allSettled([
      registry.commit([['a', 2]]),
      registry.commit([['b', 'as before']], { expect: [['a', 1]] }),
      registry.commit([['c', 'never']], { expect: [['a', 2]] }),
    ]);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'DISK_FULL' } });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'DISK_FULL' } });
    expect(third).toMatchObject({ status: 'rejected', reason: { code: 'CONFLICT' } });
    well();
    await registry.commit([['b', 'as before']], { expect: [['a', 1]] });
    expect(await registry.entries('')).toEqual([
      ['a', 1],
      ['b', 'as before'],
      ['old', 'x'],
    ]);
  });

  it.each([0, 1])(
    'full, in the middle of write %i of a commit: DISK_FULL, memory and disk unchanged, and the next commit succeeds',
    async (writes) => {
      const before = files();
      disk.writes = writes;
      await expect(
        registry.commit([
          ['a', 2],
          ['b', 2],
        ]),
      ).rejects.toMatchObject({ code: 'DISK_FULL' });
      expect(await registry.entries('')).toEqual([
        ['a', 1],
        ['old', 'x'],
      ]);
      expect(files()).toBe(before);
      well();
      await registry.commit([['a', 3]]);
      expect(await registry.entries('')).toEqual([
        ['a', 3],
        ['old', 'x'],
      ]);
      expect(await again()).toEqual([
        ['a', 3],
        ['old', 'x'],
      ]);
    },
  );

  it.each(['EIO', 'ENOSPC'])(
    'a sync that fails with %s: the commit never shows, here or after a restart',
    async (code) => {
      disk.sync = code;
      await expect(registry.commit([['a', 2]])).rejects.toMatchObject({
        message: expect.stringMatching(/registry/) as string,
      });
      expect(await registry.get('a')).toBe(1);
      well();
      expect(await again()).toEqual([
        ['a', 1],
        ['old', 'x'],
      ]);
      await registry.commit([['a', 3]]);
      expect(await again()).toEqual([
        ['a', 3],
        ['old', 'x'],
      ]);
    },
  );

  it('of commits that come at once each is judged by itself', async () => {
    disk.writes = 0;
    const first = registry.commit([['a', 2]]).catch((e: { code: string }) => e.code);
    const second = registry.commit([['c', 'y']]).catch((e: { code: string }) => e.code);
    expect(await Promise.all([first, second])).toEqual(['DISK_FULL', 'DISK_FULL']);
    well();
    expect(await registry.entries('')).toEqual([
      ['a', 1],
      ['old', 'x'],
    ]);
  });

  it('a new generation that cannot be begun holds up no commit', async () => {
    disk.open = 'EMFILE';
    for (let n = 0; n < 40; n++) await registry.commit([['a', 'x'.repeat(200) + n]]);
    well();
    for (let n = 0; n < 40; n++) await registry.commit([['a', 'y'.repeat(200) + n]]);
    expect(await again()).toEqual([
      ['a', 'y'.repeat(200) + 39],
      ['old', 'x'],
    ]);
    expect(readdirSync(dir.path).some((f) => f.endsWith('.snap'))).toBe(true);
  });

  it('opens without any space, and rejects the first commit', async () => {
    await registry.close();
    disk.writes = 0;
    registry = await openFileRegistry(dir.path);
    expect(await registry.get('a')).toBe(1);
    await expect(registry.commit([['a', 2]])).rejects.toMatchObject({ code: 'DISK_FULL' });
    well();
    await registry.commit([['a', 3]]);
    expect(await again()).toEqual([
      ['a', 3],
      ['old', 'x'],
    ]);
  });

  it('gives its reserve for a commit that deletes, once', async () => {
    expect(readdirSync(dir.path)).toContain('reserve');
    disk.writes = 0;
    await expect(registry.commit([['new', 1]])).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(readdirSync(dir.path)).toContain('reserve');
    await expect(registry.commit([['old', undefined]])).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(readdirSync(dir.path)).not.toContain('reserve');
    well();
    await registry.commit([['old', undefined]]);
    expect(readdirSync(dir.path)).toContain('reserve');
    expect(await again()).toEqual([['a', 1]]);
  });
});
