/**
 * Registries that earlier versions kept with LMDB: read without a mapping, taken over once; a damaged file ends in an
 * error and never in a signal.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DamagedLmdb, readLmdb } from '../src/embedded/lmdb/lmdb-file.ts';
import { readMsgpack } from '../src/embedded/lmdb/msgpack.ts';
import { openFileRegistry } from '../src/index.ts';
import { temporary } from './temporary.ts';

const recorded = (name: string): Buffer => gunzipSync(readFileSync(join(import.meta.dirname, 'recorded-lmdb', name)));
/** Written by lmdb 3.5.6 as this package used it; entries.json is what was put. */
const data = recorded('data.mdb.gz');
const entries = new Map(JSON.parse(recorded('entries.json.gz').toString()) as [string, unknown][]);

async function withRegistry(bytes: Uint8Array, work: (directory: string) => Promise<void>): Promise<void> {
  const dir = await temporary();
  try {
    mkdirSync(join(dir.path, 'registry'));
    writeFileSync(join(dir.path, 'registry', 'data.mdb'), bytes);
    await work(join(dir.path, 'registry'));
  } finally {
    await dir.dispose();
  }
}

describe('a registry of LMDB', () => {
  it('is read as it was written: branch, leaf and overflow pages, records, numbers of every width', () => {
    const read = readLmdb(data);
    expect(read.older).toBeUndefined();
    expect(JSON.parse(JSON.stringify(read.entries))).toEqual(
      [...entries].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
  });

  it('is taken over once, and kept beside', async () => {
    await withRegistry(data, async (directory) => {
      for (let start = 0; start < 2; start++) {
        const registry = await openFileRegistry(directory);
        expect(new Map(await registry.entries(''))).toEqual(entries);
        await registry.commit([['start', start]]);
        await registry.commit([['start', undefined]]);
        await registry.close();
      }
      expect(readFileSync(join(`${directory}.lmdb`, 'data.mdb')).equals(data)).toBe(true);
      // An earlier version, started here again, must not take the folder for an empty one.
      expect(readFileSync(join(directory, 'data.mdb'), 'utf8')).toMatch(/newer version/);
      expect(readdirSync(join(directory, '..')).sort()).toEqual(['registry', 'registry.lmdb']);
    });
  });

  it('is taken over after a crash in between', async () => {
    await withRegistry(data, async (directory) => {
      // Killed while the new one was written …
      mkdirSync(`${directory}.new`);
      writeFileSync(join(`${directory}.new`, '00000000000000-00000001.log'), 'half');
      await (await openFileRegistry(directory)).close();
      // … and between the two renames.
      const { renameSync } = await import('node:fs');
      renameSync(directory, `${directory}.new`);
      const registry = await openFileRegistry(directory);
      expect(new Map(await registry.entries(''))).toEqual(entries);
      await registry.close();
    });
  });

  it('damaged in any page: an error with a sentence, or the whole state', () => {
    const whole = JSON.stringify(readLmdb(data).entries);
    let errors = 0;
    const attempt = (bytes: Uint8Array): void => {
      let read: ReturnType<typeof readLmdb>;
      try {
        read = readLmdb(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(DamagedLmdb);
        return void errors++;
      }
      // There are no checksums: of bits within a value nobody can tell. The number of records is right at least.
      if (read.older === undefined && JSON.stringify(read.entries) !== whole)
        expect(read.entries).toHaveLength(entries.size);
    };
    for (let page = 0; page * 4096 < data.length; page++) {
      const zeroed = Buffer.from(data).fill(0, page * 4096, page * 4096 + 4096);
      attempt(zeroed);
      attempt(Buffer.from(data).fill(0xff, page * 4096, page * 4096 + 4096));
      attempt(data.subarray(0, page * 4096));
      attempt(data.subarray(0, page * 4096 + 100));
      for (let i = 0; i < 40; i++) {
        const flipped = Buffer.from(data);
        flipped[page * 4096 + ((i * 13) % 300)]! ^= 1 << (i % 8);
        attempt(flipped);
      }
    }
    expect(errors).toBeGreaterThan(100);
  });

  it('cut, emptied or garbage: the server is told what is wrong with which file', async () => {
    for (const [bytes, what] of [
      [data.subarray(0, data.length / 2), /data\.mdb is damaged: /],
      [Buffer.from(data).fill(0, 0, 8192), /data\.mdb has no readable meta page/],
      [Buffer.from(data).fill(0, 0, 4096), /data\.mdb is damaged: its newest state cannot be read/],
      [Buffer.alloc(0), /data\.mdb is empty \(0 bytes\)/],
      [Buffer.alloc(9000, 'garbage'), /data\.mdb has no readable meta page/],
    ] as const)
      await withRegistry(bytes, async (directory) => {
        await expect(openFileRegistry(directory)).rejects.toMatchObject({
          code: 'DAMAGED_DATA',
          message: expect.stringMatching(what) as string,
        });
        expect(readFileSync(join(directory, 'data.mdb')).equals(bytes)).toBe(true);
      });
  });
});

describe('MessagePack of LMDB', () => {
  it('ends in an error for every cut of a value', () => {
    // {a: 1, b: [{c: 'x'}, {c: 'y'}]} with records 0x40 and 0x41
    const value = Buffer.from('d4724092a161a16201' + '92' + 'd4724191a163a178' + '41a179', 'hex');
    expect(readMsgpack(value)).toEqual({ a: 1, b: [{ c: 'x' }, { c: 'y' }] });
    for (let n = 0; n < value.length; n++) expect(() => readMsgpack(value.subarray(0, n))).toThrow();
    for (const bad of [
      'ddffffffff',
      'dfffffffff',
      'dbffffffff',
      'c6ffffffff',
      'c1',
      'c8',
      '91'.repeat(1000) + '01',
      '0101',
    ])
      expect(() => readMsgpack(Buffer.from(bad, 'hex')), bad).toThrow(/./);
  });
});
