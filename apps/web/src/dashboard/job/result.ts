/** What came out of a job: its files with what the socket said of them since, and the one that is its result. Pure. */
import type { JobView } from '@mayfly/wire';
import { pictureKind, type PictureKind } from '../../shared/pictures.ts';
import type { FileNews } from './useJob.ts';

export interface ResultFile {
  path: string;
  bytes: number;
  task: number;
  /** Another number: other content. */
  change: number;
}

export const resultFiles = (job: Pick<JobView, 'outputs'>, news: FileNews): ResultFile[] =>
  job.outputs.map((o) => {
    const n = news.get(o.path);
    return { ...o, bytes: Math.max(o.bytes, n?.bytes ?? 0), change: n?.change ?? 0 };
  });

export const picturesOf = (files: readonly ResultFile[]): (ResultFile & { kind: PictureKind })[] =>
  files.flatMap((f) => {
    const kind = pictureKind(f.path);
    return kind && f.bytes > 0 ? [{ ...f, kind }] : [];
  });

/** The one that stands beside the head: the first, so that a later one does not take its place. */
export const firstPicture = (job: Pick<JobView, 'outputs'>, news: FileNews) => picturesOf(resultFiles(job, news))[0];
