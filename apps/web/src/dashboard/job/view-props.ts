/** What every view of a job (views.tsx) is given by its page. */
import type { JobView } from '@mayfly/wire';
import type { FileNews, OutputFeed } from './useJob.ts';

export interface ViewProps {
  job: JobView;
  feed: OutputFeed;
  files: FileNews;
  /** Shows another view. */
  go: (view: string) => void;
}
