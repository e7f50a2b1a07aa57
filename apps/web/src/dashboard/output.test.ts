import { describe, expect, it } from 'vitest';
import { OutputLog, type StreamName } from './output.ts';

const enc = new TextEncoder();
const put = (log: OutputLog, task: number, offset: number, text: string, stream: StreamName = 'stdout') =>
  log.append({ task, stream, offset, bytes: enc.encode(text) });
const texts = (log: OutputLog, task?: number) => log.lines(task).map((l) => l.text);

describe('OutputLog', () => {
  it('I1: shows each byte once, whatever is repeated or overlaps', () => {
    const log = new OutputLog();
    expect(put(log, 0, 0, 'one\ntw')).toBe(true);
    expect(put(log, 0, 0, 'one\ntw')).toBe(false);
    expect(put(log, 0, 4, 'two\n')).toBe(true);
    expect(texts(log)).toEqual(['one', 'two']);
    expect(log.positions()).toEqual({ '0:stdout': 8 });
  });
  it('I2: says what is missing', () => {
    const log = new OutputLog();
    put(log, 0, 0, 'a');
    put(log, 0, 1001, 'b\n');
    expect(log.lines(0).map((l) => l.kind)).toEqual(['text', 'gap', 'text']);
    expect(texts(log)[1]).toContain('1,000 bytes');
  });
  it('I3: stays bounded in lines and in line length', () => {
    const log = new OutputLog(100);
    let at = 0;
    for (let i = 0; i < 1000; i++) {
      put(log, 0, at, `line ${i}\n`);
      at += `line ${i}\n`.length;
    }
    expect(log.lines(0).length).toBeLessThanOrEqual(125);
    expect(texts(log).at(-1)).toBe('line 999');
    expect(log.truncated(0)).toBe(true);
    const long = new OutputLog();
    put(long, 0, 0, 'x'.repeat(9000));
    put(long, 0, 9000, 'y');
    expect(long.lines(0).map((l) => l.text.length)).toEqual([4000, 4000, 1001]);
    expect(long.lines(0).map((l) => l.ended)).toEqual([true, true, false]);
  });
  it('I4: merges ranks in order of arrival and keeps an open line in place', () => {
    const log = new OutputLog();
    put(log, 0, 0, 'rank 0 be');
    put(log, 1, 0, 'rank 1\n');
    put(log, 1, 0, 'oops\n', 'stderr');
    put(log, 0, 9, 'gins\nend\n');
    expect(texts(log)).toEqual(['rank 0 begins', 'rank 1', 'oops', 'end']);
    expect(texts(log, 1)).toEqual(['rank 1', 'oops']);
    expect(log.lines(1).map((l) => l.stream)).toEqual(['stdout', 'stderr']);
  });
  it('puts a character together that two chunks share', () => {
    const log = new OutputLog();
    const euro = enc.encode('€\n');
    log.append({ task: 0, stream: 'stdout', offset: 0, bytes: euro.subarray(0, 2) });
    log.append({ task: 0, stream: 'stdout', offset: 2, bytes: euro.subarray(2) });
    expect(texts(log)).toEqual(['€']);
  });
  it('keeps empty lines and drops carriage returns', () => {
    const log = new OutputLog();
    put(log, 0, 0, 'a\r\n\n\nb');
    expect(texts(log)).toEqual(['a', '', '', 'b']);
    expect(log.lines(0).at(-1)?.ended).toBe(false);
  });
});
