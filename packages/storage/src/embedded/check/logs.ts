/** Checks every record of the message logs. Changes nothing. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lsn } from '../../ports/index.ts';
import { decodeHead, judgeTear, scanSegment, type SegmentScan } from '../segment-format.ts';
import { parseSegmentName } from '../segment.ts';
import { unreadable, type CheckProgress, type Problem } from './problem.ts';

/** @returns also how many records each stream has by its name: the number that its next record gets */
export async function checkLogs(
  dataDir: string,
  progress: CheckProgress,
): Promise<{ problems: Problem[]; next: Map<string, Lsn> }> {
  const problems: Problem[] = [];
  const next = new Map<string, Lsn>();
  let streams: string[];
  try {
    streams = (await readdir(join(dataDir, 'log'))).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push({ file: 'log', what: unreadable(error) });
    return { problems, next };
  }
  for (const stream of streams) {
    let name: string;
    try {
      name = decodeURIComponent(stream);
    } catch {
      problems.push({ file: `log/${stream}`, what: 'is no folder of a message log', harmless: true });
      continue;
    }
    try {
      next.set(name, await checkStream(dataDir, `log/${stream}`, problems, progress));
    } catch (error) {
      problems.push({ file: `log/${stream}`, what: unreadable(error) });
    }
  }
  return { problems, next };
}

async function checkStream(
  dataDir: string,
  stream: string,
  problems: Problem[],
  progress: CheckProgress,
): Promise<Lsn> {
  const names = (await readdir(join(dataDir, stream))).flatMap((n) => {
    const parsed = parseSegmentName(n);
    if (!parsed) problems.push({ file: `${stream}/${n}`, what: 'is no segment of a message log', harmless: true });
    return parsed ? [{ file: `${stream}/${n}`, ...parsed }] : [];
  });
  names.sort((a, b) => a.base - b.base);
  const scans: { file: string; base: Lsn; scan: SegmentScan; headless: boolean }[] = [];
  for (const n of names) {
    try {
      const bytes = await readFile(join(dataDir, n.file));
      progress(n.file, bytes.length);
      const head = decodeHead(bytes);
      if (head === 'version') {
        problems.push({ file: n.file, what: 'was written by another version of Mayfly; check it with that version' });
        continue;
      }
      const whole = head !== undefined && head.base === n.base && head.salt === n.salt;
      scans.push({ file: n.file, base: n.base, scan: scanSegment(bytes, n, whole), headless: !whole });
    } catch (error) {
      problems.push({ file: n.file, what: unreadable(error) });
    }
  }
  const watermark = Math.max(0, ...scans.map((s) => Math.max(s.scan.watermark, s.scan.beyond)));
  for (const [i, { file, scan, headless }] of scans.entries()) {
    const last = i === scans.length - 1;
    if (!scan.torn && (last || scan.sealed)) continue;
    if (judgeTear(scan.next, watermark) === 'damaged')
      problems.push({ file, what: headless ? 'is damaged in its head' : `is damaged from record ${scan.next} on` });
    else if (!last)
      problems.push({
        file,
        what:
          `ends at record ${scan.next}, before the segments behind it; what follows was never acknowledged as ` +
          'durable, and is cut at the next start',
        harmless: true,
      });
    else
      problems.push({
        file,
        what: `ends with an incomplete record behind record ${scan.next}: as after a crash; the next start cuts it off`,
        harmless: true,
      });
  }
  return scans.at(-1)?.scan.next ?? 0;
}
