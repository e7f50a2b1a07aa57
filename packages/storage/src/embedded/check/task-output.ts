/** Checks the index of one task (output/task-output.ts) against its streams, byte by byte. Changes nothing. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { WorldMode } from '@mayfly/wire';
import { decode, RECORD, sumOf } from '../output/task-output.ts';
import { unreadable } from './problem.ts';

/** @throws as the file system does, for the index itself */
export function checkIndex(out: string, task: string): { file: string; what: string; harmless?: boolean }[] {
  const problems: { file: string; what: string; harmless?: boolean }[] = [];
  const index = readFileSync(join(out, `${task}.index`));
  const streams = new Map(
    [WorldMode.STDOUT, WorldMode.STDERR].map((mode) => [
      mode as number,
      {
        file: `${task}.${mode === WorldMode.STDOUT ? 'stdout' : 'stderr'}`,
        end: 0,
        last: 0,
        fd: -1,
        size: 0,
        bad: false,
      },
    ]),
  );
  try {
    for (const s of streams.values())
      try {
        s.fd = openSync(join(out, s.file), 'r');
        if (!fstatSync(s.fd).isFile()) throw Object.assign(new Error('no file'), { code: 'EISDIR' });
        s.size = fstatSync(s.fd).size;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
        s.bad = true;
        problems.push({ file: s.file, what: unreadable(error) });
      }
    let at = 0;
    for (; at + RECORD <= index.length; at += RECORD) {
      const p = decode(index, at);
      const s = p && streams.get(p.mode);
      if (!p || (s && p.start !== s.end)) break;
      if (!s) continue;
      s.last = s.end;
      s.end += p.length;
      if (s.bad || s.end > s.size || index[at + 7] !== 1) continue;
      const body = Buffer.alloc(p.length);
      for (let done = 0; done < body.length;)
        done += readSync(s.fd, body, done, body.length - done, p.start + done) || body.length;
      if (sumOf(index, at, body) === index.readUInt32LE(at + 12)) continue;
      s.bad = true;
      problems.push({ file: s.file, what: `is damaged from byte ${p.start} on, or its index is` });
    }
    if (at + RECORD <= index.length)
      problems.push({ file: `${task}.index`, what: `is damaged from message ${at / RECORD + 1} on` });
    else if (at !== index.length)
      problems.push({
        file: `${task}.index`,
        what: 'ends with an incomplete record, as after a crash',
        harmless: true,
      });
    for (const s of streams.values()) {
      if (s.bad) continue;
      if (s.size > s.end)
        problems.push({
          file: s.file,
          what: `has ${s.size} bytes, and its index knows of ${s.end}: the index is damaged`,
        });
      // The record of a message is written before its bytes: a crash may leave the last one without.
      else if (s.size < s.end)
        problems.push({
          file: s.file,
          what:
            `has ${s.size} bytes where ${s.end} were ` +
            `written${s.size >= s.last ? '; the last message is perhaps written again' : ''}`,
        });
    }
  } finally {
    for (const s of streams.values()) if (s.fd >= 0) closeSync(s.fd);
  }
  return problems;
}
