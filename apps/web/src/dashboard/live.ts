/**
 * The live side of the dashboard: one socket to the namespace /dashboard.
 *
 * Owns: the connection's state, the last lists of jobs and nodes, and what is watched.
 *   I1 One job is watched at a time (the wire's rule: `watch` replaces).
 *   I3 One view of a job's history is drawn at a time; who draws hears of a reconnection, and reads what it has missed.
 *   I4 Changes of a view are made to the one that came before them on this socket, never to what REST answered.
 *   I5 While the socket is up, what it brought last is the newest view: an answer of REST may have been under way for
 *      longer, and nothing would come after the end of a job to correct it.
 *   I2 After a reconnection the watch goes on where the shown output ends; nothing is shown twice.
 */
import {
  patched,
  type ArrowNews,
  type JobView,
  type Look,
  type MatrixNews,
  type NodeView,
  type ProvisionalOutput,
  type TimelineNews,
  type ViewerEvents,
  type ViewerRequests,
} from '@mayfly/wire';
import { io, type Socket } from 'socket.io-client';
import { useSyncExternalStore } from 'react';
import { refuseToken } from './token.ts';

/** Of a stream that is new here, at most so many bytes are asked for; a page shows the last lines only. */
const TAIL = 256 * 1024;

export interface Watcher {
  job(view: JobView): void;
  output(chunk: { task: number; stream: 'stdout' | 'stderr'; offset: number; bytes: Uint8Array }): void;
  /** All output that is not final, each time that it changes. */
  provisional(streams: ProvisionalOutput[]): void;
  file(f: { path: string; bytes: number }): void;
  positions(): Record<string, number>;
}

/** Who draws a part of a job's history. */
export interface Looker {
  timeline?(news: TimelineNews): void;
  matrix?(news: MatrixNews): void;
  arrows?(news: ArrowNews): void;
  /** The connection was away and is back: what came meanwhile is missing. */
  again?(): void;
}

export interface LiveView {
  /** `offline`: was there, is gone; it tries again by itself. */
  status: 'connecting' | 'online' | 'offline';
  since: number;
  jobs?: Brought<JobView>;
  nodes?: Brought<NodeView>;
}

/** A list that the socket has brought, and when. */
export interface Brought<T> {
  data: T[];
  at: number;
}

export class Live {
  readonly #socket: Socket<ViewerEvents, ViewerRequests>;
  readonly #listeners = new Set<() => void>();
  #looking: { look: Look; looker: Looker } | undefined;
  #watched: { id: string; watcher: Watcher; last?: JobView } | undefined; // I4
  #view: LiveView = { status: 'connecting', since: Date.now() };

  /** `token`: '' for the cookie of a session. */
  constructor(token: string) {
    this.#socket = io('/dashboard', {
      auth: token === '' ? {} : { token },
      reconnectionDelay: 300,
      reconnectionDelayMax: 3000,
    });
    this.#socket.on('connect', () => {
      this.#set({ status: 'online', since: Date.now() });
      this.#ask();
      if (!this.#looking) return;
      this.#sendLook();
      this.#looking.looker.again?.();
    });
    this.#socket.on('disconnect', (reason) => {
      if (reason === 'io client disconnect') return;
      this.#set({ status: 'offline', since: Date.now() });
      // socket.io itself does not try again then
      if (reason === 'io server disconnect') setTimeout(() => this.#socket.connect(), 1000);
    });
    this.#socket.on('connect_error', (error: Error & { data?: { code?: string } }) => {
      if ((error.data?.code ?? error.message).includes('UNAUTHORIZED')) {
        refuseToken();
        return;
      }
      if (this.#view.status !== 'offline') this.#set({ status: 'offline', since: Date.now() });
      if (!this.#socket.active) setTimeout(() => this.#socket.connect(), 2000);
    });
    this.#socket.on('jobs', (data) => this.#set({ jobs: { data, at: Date.now() } }));
    this.#socket.on('nodes', (data) => this.#set({ nodes: { data, at: Date.now() } }));
    this.#socket.on('job', (job) => {
      if (this.#watched?.id !== job.id) return;
      this.#watched.last = job;
      this.#watched.watcher.job(job);
    });
    this.#socket.on('change', ({ job, patch }) => {
      if (this.#watched?.id !== job || !this.#watched.last) return;
      this.#watched.last = patched(this.#watched.last, patch) as JobView;
      this.#watched.watcher.job(this.#watched.last);
    });
    this.#socket.on('output', (o) => {
      if (this.#watched?.id === o.job) this.#watched.watcher.output({ ...o, bytes: asBytes(o.bytes) });
    });
    this.#socket.on('provisional', (o) => {
      if (this.#watched?.id !== o.job) return;
      this.#watched.watcher.provisional(o.streams.map((s) => ({ ...s, bytes: asBytes(s.bytes) })));
    });
    this.#socket.on('timeline', (n) => this.#lookerOf(n.job)?.timeline?.({ ...n, shares: asBytes(n.shares) }));
    this.#socket.on('matrix', (n) => this.#lookerOf(n.job)?.matrix?.({ ...n, cells: asBytes(n.cells) }));
    this.#socket.on('arrows', (n) => this.#lookerOf(n.job)?.arrows?.({ ...n, arrows: asBytes(n.arrows) }));
    this.#socket.on('file', (f) => {
      if (this.#watched?.id === f.job) this.#watched.watcher.file(f);
    });
  }

  readonly view = (): LiveView => this.#view;

  readonly subscribe = (f: () => void): (() => void) => {
    this.#listeners.add(f);
    return () => this.#listeners.delete(f);
  };

  watch(id: string, watcher: Watcher): () => void {
    const mine: { id: string; watcher: Watcher; last?: JobView } = { id, watcher };
    this.#watched = mine; // I1
    this.#ask();
    return () => {
      if (this.#watched !== mine) return;
      this.#watched = undefined;
      this.#ask();
    };
  }

  /** The newest view of the job that is watched, as long as the socket would bring a newer one (I5). */
  newest(id: string): JobView | undefined {
    return this.#socket.connected && this.#watched?.id === id ? this.#watched.last : undefined;
  }

  /** One part is drawn at a time: the newest replaces the one before. */
  look(look: Look, looker: Looker): () => void {
    const mine = { look, looker };
    this.#looking = mine;
    this.#sendLook();
    return () => {
      if (this.#looking !== mine) return;
      this.#looking = undefined;
      this.#sendLook();
    };
  }

  #lookerOf(job: string): Looker | undefined {
    return this.#looking?.look.job === job ? this.#looking.looker : undefined;
  }

  #sendLook(): void {
    if (this.#socket.connected) this.#socket.emit('look', this.#looking?.look ?? null, () => undefined);
  }

  close(): void {
    this.#socket.disconnect();
  }

  #ask(): void {
    if (!this.#socket.connected) return;
    const w = this.#watched;
    delete w?.last;
    w?.watcher.provisional([]);
    this.#socket.emit(
      'watch',
      w ? { job: w.id, from: w.watcher.positions(), tail: TAIL, deltas: true, provisional: true } : {},
      () => undefined,
    ); // I2; a job that is gone is REST's to say
  }

  #set(change: Partial<LiveView>): void {
    this.#view = { ...this.#view, ...change };
    for (const f of this.#listeners) f();
  }
}

/** socket.io hands binary data over as an ArrayBuffer in browsers. */
const asBytes = (b: Uint8Array | ArrayBuffer): Uint8Array => (b instanceof Uint8Array ? b : new Uint8Array(b));

export const useLiveView = (live: Live): LiveView => useSyncExternalStore(live.subscribe, live.view);
