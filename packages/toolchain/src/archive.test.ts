/** Archives that lie: nothing that one says of itself decides what unpacking costs (archive.ts A1 to A4). */
import { gzipSync, zipSync } from 'fflate';
import { describe, expect, it, vi } from 'vitest';
import { tar, zeros, zip, type TarEntry } from './archives-for-tests.ts';
import { unpack } from './archive.ts';
import { ARCHIVE_LIMITS } from './limits.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const A = bytesOf('int a;\n');
/** 200 MB in 200 KB. */
const BOMB = zeros(200 << 20);

const refusal = async (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
  (await work.then(
    () => new Error('it was taken'),
    (e: unknown) => e,
  )) as never;

describe('a zip file', () => {
  it(
    'is unpacked as any other program would: deflated, stored, with folders, a comment, and beside what is ' +
      'left out',
    async () => {
      const files = {
        'a/': new Uint8Array(),
        'a/one.c': A,
        'stored.c': bytesOf('x'),
        '../out.c': A,
        '/abs.c': A,
        'C:/x.c': A,
        '.hidden': A,
        'a\\b.c': A,
        '__MACOSX/a.c': A,
      };
      const made = await unpack(zipSync(files));
      expect([...made.keys()].sort()).toEqual(['a/one.c', 'stored.c']);
      expect(made.get('a/one.c')).toEqual(A);
      const own = zip([
        { name: 'a.c', data: A, method: 0 },
        { name: 'link.c', data: bytesOf('/etc/passwd'), mode: 0o120777 },
        { name: 'inner.zip', data: zip([{ name: 'b.c', data: A }]) },
      ]);
      const commented = new Uint8Array([...own, ...bytesOf('a comment')]);
      new DataView(commented.buffer).setUint16(own.length - 2, 9, true);
      // A link is no file, and an archive inside is not opened.
      expect([...(await unpack(commented)).keys()]).toEqual(['a.c', 'inner.zip']);
    },
  );

  it.each([
    [
      'a file that is longer than the directory says',
      zip([{ name: 'a.c', packed: BOMB, stated: 100 }]),
      'BAD_ARCHIVE',
      '"a.c" has 100 bytes by the directory',
    ],
    [
      'a file that is shorter',
      zip([{ name: 'a.c', data: A, stated: 5000 }]),
      'BAD_ARCHIVE',
      'has 5000 bytes by the directory',
    ],
    [
      'a stored file with another size',
      zip([{ name: 'a.c', data: A, method: 0, stated: 3 }]),
      'BAD_ARCHIVE',
      'has 3 bytes by the directory',
    ],
    [
      'a file that says that it is too long',
      zip([{ name: 'a.c', packed: BOMB, stated: 200 << 20 }]),
      'TOO_LARGE',
      '64 MB',
    ],
    [
      'files that are too long together',
      zip(Array.from({ length: 3 }, (_, i) => ({ name: `${i}.c`, packed: zeros(30 << 20), stated: 30 << 20 }))),
      'TOO_LARGE',
      '64 MB',
    ],
    [
      'entries that share their bytes',
      zip([{ name: 'a.c', data: A }, ...Array.from({ length: 1000 }, (_, i) => ({ name: `b${i}.c`, data: A, at: 0 }))]),
      'BAD_ARCHIVE',
      'overlap: "a.c" and "b0.c"',
    ],
    [
      'two files of one path',
      zip([
        { name: 'a.c', data: A },
        { name: 'a.c', data: A },
      ]),
      'BAD_ARCHIVE',
      '"a.c" twice',
    ],
    [
      'too many files',
      zip(Array.from({ length: ARCHIVE_LIMITS.files + 1 }, (_, i) => ({ name: `${i}.c`, method: 0 }))),
      'TOO_LARGE',
      '4000 files',
    ],
    [
      'too many entries of other kinds',
      zip(Array.from({ length: ARCHIVE_LIMITS.entries + 1 }, (_, i) => ({ name: `.${i}`, method: 0 }))),
      'TOO_LARGE',
      '20000 entries',
    ],
    ['a path without an end', zip([{ name: 'a'.repeat(5000), data: A }]), 'BAD_ARCHIVE', '5000 bytes'],
    ['another method', zip([{ name: 'a.c', data: A, method: 12 }]), 'BAD_ARCHIVE', 'another method'],
    [
      'damaged bytes',
      zip([{ name: 'a.c', packed: bytesOf('\xff\xff no deflate'), stated: 10 }]),
      'BAD_ARCHIVE',
      'damaged at "a.c"',
    ],
    [
      'a directory that is elsewhere',
      (() => {
        const z = zip([{ name: 'a.c', data: A }]);
        new DataView(z.buffer).setUint32(z.length - 6, 5, true);
        return z;
      })(),
      'BAD_ARCHIVE',
      'damaged or cut off',
    ],
    ['no end', zip([{ name: 'a.c', data: A }]).subarray(0, 60), 'BAD_ARCHIVE', 'damaged or cut off'],
  ])('with %s is refused by name', async (_what, archive, code, words) => {
    const error = await refusal(unpack(archive));
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(words);
  });
});

it('that lies about its sizes costs what it may come to, not what it holds', async ({ onTestFinished }) => {
  onTestFinished(() => void vi.unstubAllGlobals());
  let made = 0;
  const Real = DecompressionStream;
  vi.stubGlobal(
    'DecompressionStream',
    class {
      readonly writable: unknown;
      readonly readable: unknown;
      constructor(format: 'deflate-raw') {
        const real = new Real(format);
        this.writable = real.writable;
        this.readable = (real.readable as ReadableStream<Uint8Array>).pipeThrough(
          new TransformStream({ transform: (bytes: Uint8Array, to) => ((made += bytes.length), to.enqueue(bytes)) }),
        );
      }
    },
  );
  const liars = Array.from({ length: 40 }, (_, i) => ({ name: `${i}.c`, packed: BOMB, stated: 1000 }));
  await expect(unpack(zip(liars))).rejects.toMatchObject({ code: 'BAD_ARCHIVE' });
  expect(made).toBeGreaterThan(1000);
  expect(made).toBeLessThan(4 << 20);
});

describe('a tar file', () => {
  it('is unpacked without links, devices, sparse files and paths that lead out', async () => {
    const odd: TarEntry[] = [
      { name: 'l.c', type: '2' },
      { name: 'h.c', type: '1' },
      { name: 'dev.c', type: '3' },
      { name: 'fifo.c', type: '6' },
      { name: 'sparse.c', data: 'x', type: 'S' },
      { name: '../out.c', data: 'x' },
      { name: '/abs.c', data: 'x' },
      { name: 'a/../../out.c', data: 'x' },
    ];
    const long = [
      { name: '././@LongLink', data: `${'d/'.repeat(80)}long.c\0`, type: 'L' },
      { name: 'short', data: 'y' },
    ];
    const pax = [
      { name: 'pax', data: '24 path=pax-named/file.c\n'.replace('24', '26'), type: 'x' },
      { name: 'short', data: 'z' },
    ];
    const made = await unpack(tar([{ name: './a.c', data: 'int a;\n' }, ...odd, ...long, ...pax]));
    expect([...made.keys()]).toEqual(['a.c', `${'d/'.repeat(80)}long.c`, 'pax-named/file.c']);
  });

  it.each([
    ['a negative size', tar([{ name: 'a.c', size: '-0000000001\0' }]), 'BAD_ARCHIVE', 'a size that cannot be read'],
    [
      'a size of another kind (base 256)',
      tar([{ name: 'a.c', size: '\x80\0\0\0\0\0\0\x7f\xff\xff\xff\xff' }]),
      'BAD_ARCHIVE',
      'a size that cannot be read',
    ],
    [
      'a size beyond its end',
      tar([{ name: 'a.c', data: 'x', size: '77777777777\0' }]),
      'BAD_ARCHIVE',
      'has 8589934591 bytes by its head, of which',
    ],
    [
      'two files of one path',
      tar([
        { name: 'a.c', data: 'x' },
        { name: './a.c', data: 'y' },
      ]),
      'BAD_ARCHIVE',
      '"a.c" twice',
    ],
    [
      'a name without an end',
      tar([
        { name: 'l', data: 'n'.repeat(20_000), type: 'L' },
        { name: 'a.c', data: 'x' },
      ]),
      'BAD_ARCHIVE',
      '20000 bytes',
    ],
    [
      'too many files',
      tar(Array.from({ length: ARCHIVE_LIMITS.files + 1 }, (_, i) => ({ name: `${i}.c` }))),
      'TOO_LARGE',
      '4000 files',
    ],
    [
      'too many entries of other kinds',
      tar(Array.from({ length: ARCHIVE_LIMITS.entries + 1 }, (_, i) => ({ name: `${i}`, type: '5' }))),
      'TOO_LARGE',
      '20000 entries',
    ],
  ])('with %s is refused by name', async (_what, archive, code, words) => {
    for (const packed of [archive, gzipSync(archive)]) {
      const error = await refusal(unpack(packed));
      expect(error).toMatchObject({ code });
      expect(error.message).toContain(words);
    }
  });

  it('that gzip has packed stops at the limit, and a gzip file of something else says so', async () => {
    // A bomb as a gzip file: its head, the deflated zeros, a sum that nobody gets to see.
    const bomb = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, ...BOMB, 0, 0, 0, 0, 0, 0, 0, 0]);
    await expect(unpack(bomb)).rejects.toMatchObject({ code: 'TOO_LARGE' });
    await expect(unpack(gzipSync(bytesOf('no tar file\n'.repeat(100))))).rejects.toMatchObject({
      code: 'BAD_ARCHIVE',
      message: 'The gzip file holds no tar file.',
    });
  });
});
