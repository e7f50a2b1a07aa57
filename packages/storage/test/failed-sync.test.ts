/**
 * A sync that fails ("fsyncgate"): the kernel forgets that the pages which it could not write are dirty, so that the
 * next sync succeeds and writes nothing of them. Only what is written again is written. And files that vanish under a
 * running server.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openFileMessageLog } from '../src/index.ts';
import { temporary } from './temporary.ts';

/** What the disk has of each file, as a kernel that forgets writes it. */
const disk = vi.hoisted(() => ({
  broken: false,
  dirty: new Map<string, [number, number][]>(),
  platter: new Map<string, Buffer>(),
}));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const pathOf = (fd: number): string => fs.readlinkSync(`/proc/self/fd/${fd}`);
  const sync = (fd: number): Error | null => {
    const path = pathOf(fd);
    const ranges = disk.dirty.get(path) ?? [];
    disk.dirty.delete(path);
    if (disk.broken) return Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    const now = fs.readFileSync(path);
    const platter = Buffer.alloc(now.length);
    disk.platter.get(path)?.copy(platter);
    for (const [from, to] of ranges) now.copy(platter, from, from, Math.min(to, now.length));
    disk.platter.set(path, platter);
    return null;
  };
  return {
    ...fs,
    writeSync: (fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number => {
      const n = fs.writeSync(fd, buffer, offset, length, position);
      disk.dirty.set(pathOf(fd), [...(disk.dirty.get(pathOf(fd)) ?? []), [position, position + n]]);
      return n;
    },
    fdatasync: (fd: number, done: (e: Error | null) => void) => setImmediate(() => done(sync(fd))),
  };
});
vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>();
  return {
    ...fs,
    open: async (path: string, flags: string) => {
      const handle = await fs.open(path, flags);
      const write = handle.write.bind(handle) as unknown as (
        b: Uint8Array,
        o: number,
        l: number,
        at: number,
      ) => Promise<{ bytesWritten: number }>;
      handle.write = (async (bytes: Uint8Array, offset: number, length: number, at: number) => {
        const done = await write(bytes, offset, length, at);
        disk.dirty.set(path, [...(disk.dirty.get(path) ?? []), [at, at + done.bytesWritten]]);
        return done;
      }) as never;
      return handle;
    },
  };
});

const linux = process.platform === 'linux';
const record = (n: number): Uint8Array => new Uint8Array(100 + n).fill(n);

describe.skipIf(!linux)('a stream whose sync failed', () => {
  beforeEach(() => {
    disk.broken = false;
    disk.dirty.clear();
    disk.platter.clear();
  });

  it('takes nothing more; opened again, it has all that was appended, and a sync means what it says', async () => {
    const dir = await temporary();
    const log = await openFileMessageLog(dir.path, { segmentBytes: 4096 });
    let s = await log.open('a');
    for (let n = 0; n < 10; n++) s.append(record(n));
    await s.sync();
    for (let n = 10; n < 40; n++) s.append(record(n));
    disk.broken = true;
    await expect(s.sync()).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      message: expect.stringContaining('record 10'),
    });
    disk.broken = false;
    expect(() => s.append(record(40))).toThrow(expect.objectContaining({ code: 'STORAGE_FAILED' }));
    await s.close();
    s = await log.open('a');
    expect(s.next).toBe(40);
    await s.sync();
    const files = [...s.scan()].length;
    expect(files).toBe(40);
    for (const [path, platter] of disk.platter)
      expect({ path, same: platter.equals(readFileSync(path)) }).toEqual({ path, same: true });
    expect(disk.platter.size).toBeGreaterThan(1);
    await log.close();
    await dir.dispose();
  });

  it('is lost, and says so, when its synced files vanished under a running server', async () => {
    const dir = await temporary();
    const log = await openFileMessageLog(dir.path);
    const s = await log.open('a');
    s.append(record(1));
    await s.sync();
    await s.close();
    rmSync(join(dir.path, 'a'), { recursive: true });
    await expect(log.open('a')).rejects.toMatchObject({
      code: 'DAMAGED_LOG',
      message: expect.stringContaining('ends at record 0 and had been written up to 1'),
    });
    // Removed as it should be, its name begins anew.
    await log.remove('a');
    expect((await log.open('a')).next).toBe(0);
    await log.close();
    await dir.dispose();
  });
});
