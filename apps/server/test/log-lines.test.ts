/** What strangers can make a log hold: log-lines.ts. */
import pino from 'pino';
import { expect, it } from 'vitest';
import { LogLines } from '../src/log-lines.ts';
import { logTo } from '../src/logger.ts';

interface Line {
  msg: string;
  lines?: number;
  of?: string;
}

it('a flood of one message leaves room for others, and one line says how many were left out (G1, G2)', () => {
  const written: Line[] = [];
  let now = 0;
  const later: [() => void, number][] = [];
  const lines = new LogLines(
    (line) => written.push(JSON.parse(line) as Line),
    () => now,
    (call, ms) => later.push([call, ms]),
  );
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.line(line) });
  for (let i = 0; i < 5000; i++) log.info({ what: `"msg":"${i}"` }, 'request refused');
  log.info('job submitted');
  for (let i = 0; i < 10; i++) log.error('request failed');
  const count = (msg: string): number => written.filter((l) => l.msg === msg).length;
  expect(['request refused', 'job submitted', 'request failed'].map(count)).toEqual([600, 1, 10]);
  for (let i = 0; i < 5000; i++) log.warn(`a message of a stranger, ${i}`);
  expect(written.length).toBe(3000 + 10);
  expect(later.map(([, ms]) => ms)).toEqual([60_000]);

  now = 60_000;
  later[0]![0]();
  const told = Object.fromEntries(written.flatMap((l) => (l.of === undefined ? [] : [[l.of, l.lines]])));
  expect(told).toEqual({ 'request refused': 4400, 'other messages': 2601 });
  log.info('request refused');
  expect(count('request refused')).toBe(601);
});

it('the log of a server has that limit', () => {
  let written = 0;
  const { level, stream } = logTo({ level: 'info', stream: { write: () => void written++ } });
  const log = pino({ level }, stream as { write(line: string): void });
  for (let i = 0; i < 5000; i++) log.info('request refused');
  expect(written).toBe(600);
});
