/**
 * Follows one job: its state and the output of every rank, as they come, each byte once.
 *
 * The dashboard's socket brings news; what it skipped (a lost connection, a jump in the offsets) is fetched over REST,
 * and the end of every stream is fetched there too, so that nothing is missing when `done` resolves.
 *
 * Owns: per task and stream, how many bytes were handed out. I1 Bytes of a stream are handed out in order, without gap
 * or repeat.
 */
import { io, type Socket } from 'socket.io-client';
import type { DashboardEvents, DashboardRequests, JobView, ProvisionalOutput } from '@mayfly/wire';
import type { Client } from './client.ts';
import { passes } from './client.ts';
import { AWAY_MS, awayTooLong, hasEnded } from './wait-until-ended.ts';

export interface FollowEvents {
  job(view: JobView): void;
  output(task: number, stream: 'stdout' | 'stderr', bytes: Uint8Array): void;
  /** All output that is not final, each time that it changes; absent: not wanted. */
  provisional?(streams: readonly ProvisionalOutput[]): void;
  /** The connection broke or came back. */
  connection?(online: boolean): void;
}

/** Also without a socket, the state is asked for this often. */
const POLL_MS = 1000;

/** Resolves with the last state, when all output has been handed out. @throws CommandError */
export async function follow(client: Client, id: string, events: FollowEvents): Promise<JobView> {
  const handed = new Map<string, number>();
  /** Fetches run one after the other per stream. */
  const chains = new Map<string, Promise<void>>();
  let last: JobView | undefined;
  let finish: (view: JobView) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const finished = new Promise<JobView>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  let over = false;

  const key = (task: number, stream: string): string => `${task}:${stream}`;
  const catchUp = (task: number, stream: 'stdout' | 'stderr'): Promise<void> => {
    const k = key(task, stream);
    const next = (chains.get(k) ?? Promise.resolve()).then(async () => {
      for (;;) {
        const from = handed.get(k) ?? 0;
        const bytes = await client.output(id, task, stream, from);
        // The socket may have brought some of it meanwhile.
        const fresh = bytes.subarray((handed.get(k) ?? 0) - from);
        if (fresh.length === 0) return;
        handed.set(k, (handed.get(k) ?? 0) + fresh.length);
        events.output(task, stream, fresh);
      }
    });
    chains.set(
      k,
      next.catch(() => undefined),
    );
    return next;
  };
  const seen = (view: JobView): void => {
    if (over) return;
    last = view;
    events.job(view);
    if (hasEnded(view)) {
      over = true;
      finish(view);
    }
  };

  const { server, token, insecure } = client.connection;
  const socket: Socket<DashboardEvents, DashboardRequests> = io(`${server}/dashboard`, {
    auth: { token },
    reconnectionDelay: 200,
    reconnectionDelayMax: 2000,
    rejectUnauthorized: !insecure,
  });
  const watch = (): void => {
    events.provisional?.([]);
    const provisional = events.provisional !== undefined;
    socket.emit('watch', { job: id, from: Object.fromEntries(handed), provisional }, () => undefined);
  };
  socket.on('connect', () => {
    events.connection?.(true);
    watch();
  });
  socket.on('disconnect', (reason) => {
    if (over) return;
    events.connection?.(false);
    if (reason === 'io server disconnect') setTimeout(() => socket.connect(), 500).unref();
  });
  socket.on('job', (view) => {
    if (view.id === id) seen(view);
  });
  socket.on('provisional', (o) => {
    if (o.job === id && !over) events.provisional?.(o.streams);
  });
  socket.on('output', (o) => {
    if (o.job !== id) return;
    const k = key(o.task, o.stream);
    const have = handed.get(k) ?? 0;
    const bytes = new Uint8Array(o.bytes as unknown as ArrayBuffer | Uint8Array);
    if (o.offset > have) {
      void catchUp(o.task, o.stream).catch(() => undefined);
      return;
    }
    const fresh = bytes.subarray(have - o.offset);
    if (fresh.length === 0) return;
    handed.set(k, have + fresh.length);
    events.output(o.task, o.stream, fresh);
  });

  let away = 0;
  const poll = setInterval(() => {
    if (over) return;
    client.job(id).then(
      (view) => {
        away = 0;
        seen(view);
      },
      (error: Error) => {
        if (!passes(error)) fail(error);
        else if (++away * POLL_MS > AWAY_MS) fail(awayTooLong(id));
      },
    );
  }, POLL_MS);
  try {
    const view = await finished;
    socket.disconnect();
    for (let task = 0; task < view.size; task++)
      for (const stream of ['stdout', 'stderr'] as const) await catchUp(task, stream);
    return last ?? view;
  } finally {
    over = true;
    clearInterval(poll);
    socket.disconnect();
  }
}
