/** The in-memory files of a C program: what it sees, and what the world is told of them. */
import { describe, expect, it } from 'vitest';
import { Errno, Files, ROOT_FD } from '../src/host/files.ts';
import { E, OFlag, Whence } from '../src/host/errno.ts';
import { describeTrap, wasmFrames } from '../src/host/trap.ts';

const bytes = (s: string): Uint8Array => new TextEncoder().encode(s);
const text = (b: Uint8Array): string => new TextDecoder().decode(b);

/** What the world has, and how often an input was fetched. */
function made(inputs: Record<string, string> = {}, limit = 1000): { files: Files; told: string[]; fetched: string[] } {
  const told: string[] = [];
  const fetched: string[] = [];
  const files = new Files(
    Object.entries(inputs).map(([path, s]) => ({ path, bytes: bytes(s).length })),
    (path) => (fetched.push(path), bytes(inputs[path]!)),
    {
      write: (path, at, b) => told.push(`write ${path} ${at} '${text(b)}'`),
      append: (path, b) => told.push(`append ${path} '${text(b)}'`),
      cut: (path, n) => told.push(`cut ${path} ${n}`),
    },
    limit,
  );
  return { files, told, fetched };
}
const CREATE = OFlag.CREAT | OFlag.TRUNC;
const put = (f: Files, fd: number, s: string): void => {
  const o = f.fd(fd);
  const at = f.writeOffset(o);
  f.write(f.node(o), at, bytes(s));
  o.offset = at + s.length;
};
const get = (f: Files, fd: number, n = 100): string => {
  const into = new Uint8Array(n);
  const o = f.fd(fd);
  const k = f.read(f.node(o), o.offset, into);
  o.offset += k;
  return text(into.subarray(0, k));
};
const errno = (run: () => void): number => {
  try {
    run();
  } catch (e) {
    if (e instanceof Errno) return e.errno;
    throw e;
  }
  return 0;
};

describe('devices', () => {
  it('are there for every program, in no directory and in no result', () => {
    const { files, told } = made();
    for (const name of ['null', 'zero', 'full', 'random', 'urandom', 'stdin', 'stdout', 'stderr', 'fd/1']) {
      const fd = files.open(`/dev/${name}`, CREATE, 0);
      expect(files.node(files.fd(fd)).kind).toBe('device');
      files.show();
      files.close(fd);
    }
    expect(errno(() => files.open('/dev/nothing', 0, 0))).toBe(E.NOENT);
    expect(errno(() => files.remove('/dev/null', 'file'))).toBe(E.PERM);
    expect(errno(() => files.rename('/dev/null', '/a'))).toBe(E.PERM);
    expect(files.list('').map((e) => e.name)).toEqual(['tmp']);
    files.flush();
    expect(told).toEqual([]);
    expect(files.plain().inodes.size).toBe(2);
  });

  it('an input file of a device’s name goes before the device', () => {
    const { files } = made({ 'dev/null': 'mine' });
    expect(get(files, files.open('/dev/null', 0, 0))).toBe('mine');
  });

  it('/dev/stdout is the file to which the program directed its standard output', () => {
    const { files, told } = made();
    files.renumber(files.open('/log', CREATE, 0), 1);
    const fd = files.open('/dev/stdout', 0, 0);
    put(files, fd, 'x');
    files.close(fd);
    expect(told).toEqual(["write log 0 'x'"]);
  });
});

describe('files', () => {
  it('F1 the world hears of a file when it is closed or synced, of what was written since', () => {
    const { files, told } = made();
    const fd = files.open('/out.txt', CREATE, 0);
    put(files, fd, 'hello ');
    put(files, fd, 'world');
    expect(told).toEqual([]);
    files.flushOne('/out.txt', files.fd(fd).inode);
    expect(told.splice(0)).toEqual(["write out.txt 0 'hello world'"]);
    files.seek(files.fd(fd), 0, Whence.SET);
    put(files, fd, 'J');
    files.seek(files.fd(fd), 2, Whence.END);
    put(files, fd, '!');
    files.close(fd);
    expect(told.splice(0)).toEqual(["write out.txt 0 'J'", "write out.txt 13 '!'"]);
    files.flush();
    expect(told).toEqual([]);
    expect(get(files, files.open('/out.txt', 0, 0))).toBe('Jello world\0\0!');
  });

  it('an empty file is a result; one in /tmp, or of a name that no result has, is none', () => {
    const { files, told } = made();
    files.close(files.open('/empty', CREATE, 0));
    const t = files.open('/tmp/x', CREATE, 0);
    put(files, t, 'x');
    files.close(t);
    const h = files.open('/.hidden', CREATE, 0);
    put(files, h, 'x');
    files.close(h);
    expect(told).toEqual(["write empty 0 ''"]);
    expect([...files.refused]).toEqual(['/.hidden']);
  });

  it('F2 truncation, removal and renaming of what the world knows are told', () => {
    const { files, told } = made();
    const fd = files.open('/a', CREATE, 0);
    put(files, fd, '123456');
    files.close(fd);
    const again = files.open('/a', CREATE, 0);
    put(files, again, '12');
    files.close(again);
    files.rename('/a', '/b');
    files.remove('/b', 'file');
    expect(told).toEqual([
      "write a 0 '123456'",
      'cut a 0',
      "write a 0 '12'",
      'cut a Infinity',
      "write b 0 '12'",
      'cut b Infinity',
    ]);
  });

  it('F5 what is appended goes to the end, in its order with what is written at a place', () => {
    const { files, told } = made({ 'in.txt': 'input' });
    const fd = files.open('/log', CREATE, 0);
    put(files, fd, 'head ');
    const f = files.fd(fd);
    files.append(f, bytes('a'));
    files.append(f, bytes('b'));
    expect(told.splice(0)).toEqual(["write log 0 'head '"]);
    files.state = structuredClone(files.plain());
    files.close(fd);
    expect(told.splice(0)).toEqual(["append log 'ab'"]);
    files.append(files.fd(files.open('/log', 0, 0)), bytes('c'));
    files.resize(files.lookup('/log')!, '/log', 2);
    expect(told.splice(0)).toEqual(["append log 'c'", 'cut log 2']);
    files.append(files.fd(files.open('/in.txt', 0, 0)), bytes('+'));
    files.show();
    expect(told.splice(0)).toEqual(["append in.txt '+'"]);
    files.rename('/in.txt', '/out.txt');
    files.flush();
    expect(told).toEqual(['cut in.txt Infinity', "write out.txt 0 'input+'"]);
  });

  it('F3 an input is fetched when it is read, is not in an image, and becomes a whole result when written to', () => {
    const { files, told, fetched } = made({ 'data/in.txt': 'input text' });
    const fd = files.open('/data/in.txt', 0, 0);
    expect(fetched).toEqual([]);
    expect(get(files, fd, 5)).toBe('input');
    const plain = files.plain();
    expect([...plain.inodes.values()].every((n) => (n.data?.length ?? 0) === 0)).toBe(true);
    files.state = structuredClone(plain);
    expect(get(files, fd)).toBe(' text');
    expect(fetched).toHaveLength(2);
    files.seek(files.fd(fd), 0, Whence.SET);
    put(files, fd, 'I');
    files.close(fd);
    expect(told).toEqual(["write data/in.txt 0 'Input text'"]);
  });

  it('F4 the limit is one of sizes: the same before and after an image', () => {
    const { files } = made({}, 1000);
    const fd = files.open('/big', CREATE, 0);
    put(files, fd, 'x'.repeat(600));
    files.state = structuredClone(files.plain());
    put(files, fd, 'x'.repeat(400));
    expect(errno(() => put(files, fd, 'x'))).toBe(E.NOSPC);
    files.resize(files.node(files.fd(fd)), '/big', 10);
    put(files, files.open('/other', CREATE, 0), 'x'.repeat(990));
  });

  it('names are looked up as POSIX has it', () => {
    const { files } = made({ 'd/e/f': 'x' });
    expect(files.resolve(ROOT_FD, 'd/../d/./e//f')).toBe('/d/e/f');
    expect(files.resolve(files.open('/d', 0, 0), '../../d/e')).toBe('/d/e');
    expect(files.list('/d').map((e) => [e.name, e.kind])).toEqual([['e', 'directory']]);
    expect(errno(() => files.open('/none', 0, 0))).toBe(E.NOENT);
    expect(errno(() => files.open('/none/x', CREATE, 0))).toBe(E.NOENT);
    expect(errno(() => files.open('/d/e/f', OFlag.CREAT | OFlag.EXCL, 0))).toBe(E.EXIST);
    expect(errno(() => files.remove('/d', 'directory'))).toBe(E.NOTEMPTY);
    expect(errno(() => files.remove('/d/e', 'file'))).toBe(E.ISDIR);
    expect(errno(() => files.mkdir('/d'))).toBe(E.EXIST);
    files.rename('/d', '/n');
    expect(get(files, files.open('/n/e/f', 0, 0))).toBe('x');
  });

  it('a file that is removed while it is open lives until it is closed', () => {
    const { files, told } = made();
    const fd = files.open('/t', CREATE, 0);
    put(files, fd, 'abc');
    files.remove('/t', 'file');
    files.seek(files.fd(fd), 0, Whence.SET);
    expect(get(files, fd)).toBe('abc');
    files.close(fd);
    expect(told).toEqual([]);
    expect(files.state.bytes).toBe(0);
  });
});

describe('traps', () => {
  it('keep the frames of the module, alike from every engine', () => {
    const v8 =
      `RuntimeError: unreachable\n    at deep(int, char*) (wasm://wasm/0a1b:wasm-function[12]:0x1Fa)\n    at ` +
      `wasm://wasm/0a1b:wasm-function[3]:0x20\n    at Life.run (process.ts:1:2)`;
    const firefox =
      'deep(int, char*)@https://x/y line 3 > ' +
      `WebAssembly.Module:wasm-function[12]:0x1fa\nwasm-function[3]@blob:x:wasm-function[3]:0x20\nrun@process.ts:1:2`;
    const expected = ['    at deep(int, char*) (wasm-function[12]:0x1fa)', '    at function 3 (wasm-function[3]:0x20)'];
    expect(wasmFrames(v8)).toEqual(expected);
    expect(wasmFrames(firefox)).toEqual(expected);
    expect(wasmFrames('    at a.out.main (wasm://wasm/a.out-0a:wasm-function[3]:0x20)', 'a.out')).toEqual([
      '    at main (wasm-function[3]:0x20)',
    ]);
  });

  it('say what happened in words', () => {
    expect(describeTrap(new WebAssembly.RuntimeError('unreachable'), 5000).message).toContain('abort()');
    expect(describeTrap(new WebAssembly.RuntimeError('memory access out of bounds'), 50_000).message).toContain(
      'out of bounds',
    );
    expect(describeTrap(new WebAssembly.RuntimeError('memory access out of bounds'), 0xffff_fff0).message).toContain(
      '-Wl,-z,stack-size',
    );
    // A frame of 5.6 MB on a stack of 4 MB.
    expect(describeTrap(new WebAssembly.RuntimeError('memory access out of bounds'), 0xffe8_0000).message).toContain(
      '-Wl,-z,stack-size',
    );
    expect(describeTrap(new RangeError('Maximum call stack size exceeded'), 50_000).message).toContain(
      'the stack has run out',
    );
    expect(describeTrap(new WebAssembly.RuntimeError('divide by zero'), 50_000).message).toContain('divided by zero');
  });
});
