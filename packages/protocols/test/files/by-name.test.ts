/** What tasks ask by name, without opening: directories (S9), files, and messages at the end of a file (S10). */
import { AT_END, FileOp, WorldMode, fileValue, taskId } from '@mayfly/wire';
import { describe, expect, it } from 'vitest';
import { FileError, MemoryFiles } from '../../src/index.ts';
import { MAX_FILES } from '../../src/files/file-service.ts';
import { client, result } from './messages.ts';

const text = new TextEncoder();
const CREATE = 2;

describe('what asks by name', () => {
  const made = (): { files: MemoryFiles; asks: ReturnType<typeof client>[] } => {
    const files = new MemoryFiles(100, new Map([['in/a.txt', text.encode('hello')]]));
    return { files, asks: [client(files, 0), client(files, 1)] };
  };

  it('S9: of two that make a directory one has made it, and both find it', () => {
    const { asks } = made();
    const [a, b] = asks as [(typeof asks)[0], (typeof asks)[0]];
    expect([a(FileOp.MKDIR, { name: 'd' }).error, b(FileOp.MKDIR, { name: 'd' }).error]).toEqual([
      FileError.NONE,
      FileError.FILE_EXISTS,
    ]);
    for (const ask of asks) expect(ask(FileOp.SIZE, { name: 'd' }).error).toBe(FileError.BAD_FILE);
    expect(b(FileOp.MKDIR, { name: 'd/e' }).error).toBe(FileError.NONE);
    expect(a(FileOp.MKDIR, { name: 'x/y' }).error).toBe(FileError.NO_SUCH_FILE);
    expect(a(FileOp.MKDIR, { name: 'in' }).error).toBe(FileError.FILE_EXISTS);
    expect(a(FileOp.MKDIR, { name: 'in/a.txt/b' }).error).toBe(FileError.BAD_FILE);
    expect(a(FileOp.OPEN, { name: 'd', value: CREATE }).error).toBe(FileError.BAD_FILE);
    expect(a(FileOp.RMDIR, { name: 'd' }).error).toBe(FileError.FILE_IN_USE);
    expect(a(FileOp.RMDIR, { name: 'd/e' }).error).toBe(FileError.NONE);
    expect(a(FileOp.RMDIR, { name: 'd' }).error).toBe(FileError.NONE);
    expect(b(FileOp.SIZE, { name: 'd' }).error).toBe(FileError.NO_SUCH_FILE);
    expect(b(FileOp.RMDIR, { name: 'in' }).error).toBe(FileError.FILE_IN_USE);
  });

  it('S9: a job makes so many directories, and another one when one is gone', () => {
    const { asks } = made();
    const [a, b] = asks as [(typeof asks)[0], (typeof asks)[0]];
    for (let i = 0; i < MAX_FILES; i++) a(FileOp.MKDIR, { name: `d${i}` });
    expect(b(FileOp.MKDIR, { name: 'more' }).error).toBe(FileError.NO_SPACE);
    expect(a(FileOp.RMDIR, { name: 'd0' }).error).toBe(FileError.NONE);
    expect(b(FileOp.MKDIR, { name: 'more' }).error).toBe(FileError.NONE);
  });

  it('a file is read, and its length told, without a session', () => {
    const { asks } = made();
    const [a] = asks as [(typeof asks)[0]];
    expect(fileValue(a(FileOp.SIZE, { name: 'in/a.txt' }).body, 0)).toBe(5);
    expect([...a(FileOp.READ, { name: 'in/a.txt', segments: [1, 9, 1, 0] }).body]).toEqual([...text.encode('ello')]);
    expect(a(FileOp.READ, { name: 'none', segments: [0, 9, 1, 0] }).error).toBe(FileError.NO_SUCH_FILE);
    expect(a(FileOp.READ, { name: 'in', segments: [0, 9, 1, 0] }).error).toBe(FileError.BAD_FILE);
    expect(a(FileOp.READ, { name: '../x', segments: [0, 9, 1, 0] }).error).toBe(FileError.BAD_FILE);
    expect(a(FileOp.WRITE, { name: 'x', segments: [] }).error).toBe(FileError.FILE);
  });

  it('S10: messages at the end of a file lie one behind the other, behind what an input file had', () => {
    const { files } = made();
    const say = (task: number, n: number, s: string): unknown =>
      files.deliver(taskId(task), n, WorldMode.FILE, result('in/a.txt', AT_END, text.encode(s)));
    say(0, 1, '+1');
    say(1, 1, '+2');
    say(0, 2, '+3');
    expect(new TextDecoder().decode(files.files.get('in/a.txt'))).toBe('hello+1+2+3');
    expect(() => say(1, 2, 'x'.repeat(90))).toThrow('limit');
  });
});
