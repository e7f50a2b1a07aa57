import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputMerger } from '../src/output-merger.ts';

const bytes = (s: string): Uint8Array => new TextEncoder().encode(s);
const text = (b: Uint8Array): string => new TextDecoder().decode(b);

describe('OutputMerger', () => {
  it('passes whole lines on and holds what has not ended', () => {
    const m = new OutputMerger();
    expect(text(m.take(0, bytes('one\ntw')))).toBe('one\n');
    expect(text(m.take(1, bytes('other\n')))).toBe('other\n');
    expect(text(m.take(0, bytes('o\n')))).toBe('two\n');
    expect(text(m.flush())).toBe('');
  });

  it('labels every line, and one that comes in pieces once', () => {
    const m = new OutputMerger((task) => `[${task}] `);
    expect(text(m.take(3, bytes('a\nb\n')))).toBe('[3] a\n[3] b\n');
    m.take(3, bytes('name? '));
    expect(text(m.flush())).toBe('[3] name? ');
    expect(text(m.take(3, bytes('thanks\n')))).toBe('thanks\n');
  });

  it('ends the line of a prompt before another rank speaks', () => {
    const m = new OutputMerger();
    m.take(0, bytes('name? '));
    expect(text(m.flush())).toBe('name? ');
    expect(text(m.take(1, bytes('hello\n')))).toBe('\nhello\n');
  });

  it('neither loses nor mixes lines, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(2), fc.stringMatching(/^[a-z]{0,4}\n?$/)), { maxLength: 60 }), (pieces) => {
        const m = new OutputMerger();
        const out = pieces.map(([task, s]) => text(m.take(task, bytes(s.replaceAll(/[a-z]/g, String(task))))));
        out.push(text(m.flush()));
        const all = out.join('');
        for (const task of [0, 1, 2]) {
          const wrote = pieces
            .filter(([t]) => t === task)
            .map(([, s]) => s.replaceAll(/[a-z]/g, String(task)))
            .join('');
          expect(all.split('\n').filter((l) => l.startsWith(String(task)))).toEqual(wrote.split('\n').filter(Boolean));
        }
        for (const line of all.split('\n')) expect(new Set(line).size).toBeLessThanOrEqual(1);
      }),
    );
  });
});
