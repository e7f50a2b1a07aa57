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

  const written = (...chunks: string[]) => {
    const log = new OutputLog();
    let at = 0;
    for (const c of chunks) {
      put(log, 0, at, c);
      at += enc.encode(c).length;
    }
    return log;
  };

  it.each<[string, string[], string[]]>([
    ['the newest state of a progress line', [' 10 %\r', ' 20 %\r100 %\n', 'done\n'], ['100 %', 'done']],
    ['what a shorter text leaves of a longer one', ['longer\rshort\n'], ['shortr']],
    ['nothing of it once it is erased', ['longer\rab\x1b[K\n', 'longer\x1b[2K\rcd\n'], ['ab', 'cd']],
    ['lines that end with both', ['one\r\n', 'two\r', '\n'], ['one', 'two']],
    ['a letter that was corrected', ['typo\bs\n'], ['typs']],
    ['a line that stays open', ['0 %\r1 %'], ['1 %']],
    ['an empty line', ['\n\na\n'], ['', '', 'a']],
  ])('I5: shows %s', (_what, chunks, lines) => {
    expect(texts(written(...chunks))).toEqual(lines);
  });

  it('gives colours to the text and keeps their sequences out of it, wherever a chunk is cut', () => {
    const text = '\x1b[31mred\x1b[0m plain \x1b[1;92mboth\nlines\x1b[22m green\x1b[39m end\n';
    const whole = written(text).lines(0);
    expect(whole.map((l) => l.text)).toEqual(['red plain both', 'lines green end']);
    expect(whole.map((l) => l.runs?.map((r) => `${r.text}|${r.style}`))).toEqual([
      ['red|ink-red', ' plain |', 'both|bold ink-bright-green'],
      ['lines|bold ink-bright-green', ' green|ink-bright-green', ' end|'],
    ]);
    for (let cut = 1; cut < text.length; cut++)
      expect(written(text.slice(0, cut), text.slice(cut)).lines(0), `cut at ${cut}`).toEqual(whole);
  });

  it.each([
    ['a title', '\x1b]0;title\x07a'],
    ['a link', '\x1b]8;;https://example.org\x1b\\a\x1b]8;;\x1b\\'],
    ['a cursor that is hidden and moved', '\x1b[?25l\x1b[2;3H\x1b[1Aa'],
    ['a reset of everything', '\x1bca'],
  ])('leaves out %s', (_what, text) => {
    const [line] = written(`${text}\n`).lines(0);
    expect(line).toMatchObject({ text: 'a' });
    expect(line!.runs).toBeUndefined();
  });

  it.each([
    ['38;5;9', 'ink-bright-red'],
    ['38;5;208', 'ink-bright-yellow'],
    ['38;5;21', 'ink-bright-blue'],
    ['38;5;28', 'ink-green'],
    ['38;5;240', 'ink-bright-black'],
    ['38;2;255;20;147', 'ink-bright-magenta'],
    ['1;48;2;1;2;3;4', 'bold underline paper-black'],
  ])('shows one of 256 colours or a mixture as the nearest of the sixteen: %s', (codes, style) => {
    expect(written(`\x1b[${codes}ma\n`).lines(0)[0]!.runs).toEqual([{ text: 'a', style }]);
  });

  it('does not wait for ever for the end of a sequence', () => {
    expect(texts(written(`\x1b]${'x'.repeat(300)}`, '\n')).join('')).toContain('xxx');
  });
});
