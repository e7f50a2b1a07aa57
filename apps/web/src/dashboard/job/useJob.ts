/**
 * One job, live: REST once, then the socket; REST again while the socket is away.
 * Owns the output log of the job that is shown; a new job id gives a new one.
 */
import type { JobView, ProvisionalOutput } from '@mayfly/wire';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { ApiFailure, getJob } from '../api.ts';
import { useLive } from '../context.tsx';
import { useLiveView } from '../live.ts';
import { OutputLog } from '../output.ts';

/** An output log, and what is not final behind it; tells React at most every 150 ms that they have changed. */
export class OutputFeed {
  readonly log = new OutputLog();
  /** Output that a loss still takes back. */
  provisional = new OutputLog();
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown = 0;

  append(chunk: Parameters<OutputLog['append']>[0]): void {
    if (this.log.append(chunk)) this.#changed();
  }

  /** Replaces all that was not final. */
  setProvisional(streams: readonly ProvisionalOutput[]): void {
    if (streams.length === 0 && this.provisional.version === 0) return;
    this.provisional = new OutputLog();
    for (const { task, stream, bytes } of streams) this.provisional.append({ task, stream, offset: 0, bytes });
    this.#changed();
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#shown++;
      for (const f of this.#listeners) f();
    }, 150);
  }

  readonly subscribe = (f: () => void): (() => void) => {
    this.#listeners.add(f);
    return () => this.#listeners.delete(f);
  };

  readonly version = (): number => this.#shown;
}

/**
 * What the socket says of result files, ahead of the job's own view. A file may change at the same size: each word of
 * it counts.
 */
export type FileNews = ReadonlyMap<string, { bytes: number; change: number }>;

export interface LiveJob {
  job: JobView | undefined;
  error: Error | null;
  feed: OutputFeed;
  files: FileNews;
}

export function useJob(id: string): LiveJob {
  const live = useLive();
  const online = useLiveView(live).status === 'online';
  const client = useQueryClient();
  const feed = useMemo(() => (void id, new OutputFeed()), [id]);
  const [files, setFiles] = useState<FileNews>(new Map());
  const query = useQuery({
    queryKey: ['job', id],
    queryFn: async () => {
      const view = await getJob(id);
      return live.newest(id) ?? view;
    },
    refetchInterval: online ? false : 3000,
    retry: (n, e) => !(e instanceof ApiFailure && e.status >= 400 && e.status < 500) && n < 3,
  });

  useEffect(() => {
    setFiles(new Map());
    return live.watch(id, {
      job: (view) => client.setQueryData(['job', id], view),
      output: (chunk) => feed.append(chunk),
      provisional: (streams) => feed.setProvisional(streams),
      file: (f) =>
        setFiles((old) => new Map(old).set(f.path, { bytes: f.bytes, change: (old.get(f.path)?.change ?? 0) + 1 })),
      positions: () => feed.log.positions(),
    });
  }, [live, id, client, feed]);

  return { job: query.data, error: query.data ? null : query.error, feed, files };
}
