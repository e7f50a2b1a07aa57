/** What the numbers of a server mean, and its rates. Pure. */
import type { ServerView } from '@mayfly/wire';
import { bytes } from '../../shared/format.ts';
import type { Word } from '../../shared/tone.ts';

const LITTLE_DISK = 1024 ** 3;
/** Ranks wait this long for the server itself: worth a look. */
const LATE_MS = 200;

export function healthOf(s: ServerView): Word {
  const { freeBytes } = s.storage;
  if (s.disk.state === 'stopped')
    return {
      tone: 'bad',
      text:
        s.disk.code === 'DISK_FULL' ? 'The disk is full: jobs are paused' : 'Cannot store anything: jobs are paused',
    };
  if (s.disk.state === 'low') return { tone: 'bad', text: 'The disk is nearly full: new jobs are refused' };
  if (freeBytes !== undefined && freeBytes < LITTLE_DISK)
    return { tone: 'warn', text: 'Less than 1 GB of disk is free' };
  if (s.eventLoopMs.p99 > LATE_MS) return { tone: 'warn', text: 'Busy: slow to answer' };
  return { tone: 'good', text: 'Healthy' };
}

/** Per second, between two answers; zero where there is only one, or the server was restarted between them. */
export function ratesOf(before: ServerView | undefined, s: ServerView): { records: number; received: number } {
  const seconds = before === undefined || before.startedAt !== s.startedAt ? 0 : (s.now - before.now) / 1000;
  if (before === undefined || seconds <= 0) return { records: 0, received: 0 };
  return {
    records: (s.appends - before.appends) / seconds,
    received: (s.receivedBytes - before.receivedBytes) / seconds,
  };
}

/** A size of the storage. Undefined: the server has not measured it yet. */
export const sizeText = (size: number | undefined): string => (size === undefined ? 'being measured' : bytes(size));
