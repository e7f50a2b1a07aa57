/**
 * A disk without space, under the real files: a write stops half-way with ENOSPC. The whole acceptance suite runs so,
 * for what it says of a full disk and to see that nothing else changes.
 */
import { vi } from 'vitest';
import { messageLogSuite } from '../src/acceptance/index.ts';
import { openFileMessageLog } from '../src/index.ts';
import { temporary } from './temporary.ts';

const disk = vi.hoisted(() => ({ full: false }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const writeSync = (fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number => {
    if (!disk.full) return fs.writeSync(fd, buffer, offset, length, position);
    fs.writeSync(fd, buffer, offset, length >> 1, position);
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  };
  return { ...fs, writeSync };
});

messageLogSuite(
  'files on a disk that fills',
  async () => {
    const dir = await temporary();
    disk.full = false;
    return {
      open: () => openFileMessageLog(dir.path, { segmentBytes: 4096, cacheBytes: 20_000, maxFiles: 4 }),
      fill: (full) => (disk.full = full),
      dispose: dir.dispose,
    };
  },
  { roomBytes: 100_000 },
);
