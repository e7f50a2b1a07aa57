/**
 * Uploads of checkpoint images over /data/image, one at a time: offer, needed pages, end, stored, complete (wire,
 * control.ts).
 *
 * Invariants
 *  U1 Of one task only the newest image waits; an older one that has not begun is dropped. It begins when the one
 *     before it is complete (or its completion cannot be heard of any more).
 *  U2 A broken connection begins the upload again; the server asks only for what this task has not sent yet.
 *  U3 An image's pages are kept until it is stored, refused, superseded or its task has left.
 *  U4 A page is deflated only where the network is so slow that this is faster: from the first time that
 *     a full socket drains at less than SLOW_BYTES until one stands empty.
 */
import { encodePage, packPage, plainPage, type CutImage, type EncodedPage } from '@mayfly/checkpoint';
import type { ImageId, Manifest, TaskId } from '@mayfly/wire';
import type { SocketLike } from './data-link.ts';
import type { CommSeams } from './seams.ts';

interface Upload {
  manifest: Manifest;
  cut: CutImage;
  capability: string;
  /** Its pages stay with the nodes, protected by parity. */
  near: boolean;
}
interface Reply {
  type: 'need' | 'stored' | 'complete' | 'refused';
  image: ImageId;
  pages?: number[];
  error?: { code: string; message: string };
}

const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 5_000;
/** A connection that does not open within this time is closed. */
const OPEN_MS = 10_000;
/** Bytes in the socket's buffer before the next page waits. */
const AHEAD_BYTES = 1024 * 1024;
/**
 * Bytes a second. A thread deflates some 10 to 40 million: a network that is not much slower than that is better used
 * as it is.
 */
const SLOW_BYTES = 4_000_000;
/** Pages deflated at the same time, where the engine has threads for it. */
const DEFLATED_AT_ONCE = 4;

export class ImageUploads {
  private readonly waiting: Upload[] = [];
  private current: Upload | undefined;
  /** Stored, and not yet reported as complete; by task. */
  private readonly stored = new Map<TaskId, Manifest>();
  private readonly near = new Set<Manifest>();
  private socket: SocketLike | undefined;
  private attempts = 0;
  private webSocketWorked = false;
  private polling = false;
  private slow = false;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly url: string,
    private readonly seams: CommSeams,
    private readonly events: {
      onComplete(manifest: Manifest, near: boolean): void;
      onRefused(manifest: Manifest, error: { code: string; message: string }): void;
      /** Nothing of this task is on its way any more. */
      onIdle(task: TaskId): void;
    },
  ) {}

  add(manifest: Manifest, cut: CutImage, capability: string, near = false): void {
    const i = this.waiting.findIndex((u) => u.manifest.task === manifest.task);
    if (i >= 0) this.waiting.splice(i, 1);
    this.waiting.push({ manifest, cut, capability, near });
    this.next();
  }

  /** The task has left: nothing of it is uploaded any more. */
  forget(task: TaskId): void {
    for (let i = this.waiting.length - 1; i >= 0; i--)
      if (this.waiting[i]!.manifest.task === task) this.waiting.splice(i, 1);
    const stored = this.stored.get(task);
    if (stored) this.near.delete(stored);
    this.stored.delete(task);
    if (this.current?.manifest.task === task) {
      this.current = undefined;
      // Mid-way through its pages: only a new connection is in a known state.
      this.lose();
      this.next();
    }
  }

  close(): void {
    this.waiting.length = 0;
    this.current = undefined;
    this.stored.clear();
    this.near.clear();
    this.cancel?.();
    this.cancel = undefined;
    this.disconnect();
  }

  private disconnect(): void {
    const s = this.socket;
    this.socket = undefined;
    if (!s) return;
    s.onopen = s.onmessage = s.onclose = null;
    s.onerror = () => undefined;
    s.close();
  }

  private next(): void {
    if (this.current) return;
    const i = this.waiting.findIndex((u) => !this.stored.has(u.manifest.task));
    if (i >= 0) this.current = this.waiting.splice(i, 1)[0];
    if (!this.current || this.cancel) return;
    if (this.socket) this.offer();
    else this.connect();
  }

  private connect(): void {
    // As for rank data (links.ts): one that never worked as a WebSocket tries long polling every third time.
    this.polling ||= !this.webSocketWorked && this.attempts % 3 === 2;
    const capability = (this.current ?? this.waiting[0])?.capability ?? '';
    const url = `${this.url.replace(/^http/, 'ws')}?cap=${encodeURIComponent(capability)}`;
    const s = this.polling ? this.seams.openPolling(url) : this.seams.openSocket(url);
    this.socket = s;
    s.binaryType = 'arraybuffer';
    const late = this.seams.after(OPEN_MS, () => this.socket === s && this.broken());
    s.onopen = () => {
      late();
      this.attempts = 0;
      if (!this.polling) this.webSocketWorked = true;
      this.offer();
    };
    s.onmessage = (e) => {
      if (typeof e.data !== 'string') return;
      try {
        this.reply(JSON.parse(e.data) as Reply);
      } catch {
        this.broken();
      }
    };
    s.onerror = s.onclose = () => {
      late();
      this.broken();
    };
  }

  /** What is stored would have been reported as complete on the connection that is gone. */
  private lose(): void {
    this.disconnect();
    for (const m of [...this.stored.values()]) this.settled(m);
  }

  private broken(): void {
    this.lose();
    if (this.attempts > 0) this.polling = false;
    if (!this.current && this.waiting.length === 0) return;
    const ms =
      Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** Math.min(this.attempts++, 10)) * (0.5 + this.seams.random() / 2);
    this.cancel?.();
    this.cancel = this.seams.after(ms, () => {
      this.cancel = undefined;
      if (this.current) this.connect();
      else this.next();
    });
  }

  private say(message: unknown): void {
    // Text, so that the other side can distinguish it from a page.
    this.socket?.send(JSON.stringify(message));
  }

  private offer(): void {
    const u = this.current;
    if (!u) return;
    const { capability, manifest, near } = u;
    this.say({ type: 'offer', capability, manifest, ...(near && { near }) });
  }

  private reply(r: Reply): void {
    const u = this.current;
    const known = [...this.stored.values()].find((m) => m.image === r.image);
    if (r.type === 'complete') {
      if (known) {
        this.events.onComplete(known, this.near.has(known));
        this.settled(known);
        this.next();
      }
      return;
    }
    if (r.type === 'refused') {
      const m = known ?? u?.manifest;
      if (!m) return;
      this.events.onRefused(m, r.error ?? { code: 'INTERNAL', message: 'refused' });
      if (m === u?.manifest) this.current = undefined;
      this.settled(m);
      this.next();
      return;
    }
    if (!u || r.image !== u.manifest.image) return;
    if (r.type === 'need') void this.upload(u, r.pages ?? []);
    else if (r.type === 'stored') {
      this.stored.set(u.manifest.task, u.manifest);
      if (u.near) this.near.add(u.manifest);
      this.current = undefined;
      this.next();
    }
  }

  private settled(m: Manifest): void {
    this.near.delete(m);
    if (this.stored.get(m.task) === m) this.stored.delete(m.task);
    if (!this.waiting.some((u) => u.manifest.task === m.task) && this.current?.manifest.task !== m.task)
      this.events.onIdle(m.task);
  }

  private async upload(u: Upload, pages: readonly number[]): Promise<void> {
    const socket = this.socket!;
    const current = (): boolean => this.current === u && this.socket === socket;
    const raw = pages.flatMap((index) => {
      const page = u.cut.data.get(u.manifest.pages[index] ?? '');
      return page ? [[index, page] as const] : [];
    });
    for (let i = 0; i < raw.length;) {
      const some = raw.slice(i, i + (this.slow ? DEFLATED_AT_ONCE : 1));
      i += some.length;
      for (const page of await Promise.all(some.map(([index, bytes]) => this.encoded(index, bytes)))) {
        await this.room(socket, current);
        if (!current()) return;
        socket.send(packPage(page));
      }
    }
    if (current()) this.say({ type: 'end', image: u.manifest.image });
  }

  /** U4. Engines compress no shared memory. */
  private encoded(index: number, raw: Uint8Array): EncodedPage | Promise<EncodedPage> {
    return this.slow ? encodePage(index, raw.buffer instanceof ArrayBuffer ? raw : raw.slice()) : plainPage(index, raw);
  }

  /** Waits until the socket takes more, and learns how fast it drains. */
  private async room(socket: SocketLike, current: () => boolean): Promise<void> {
    if (socket.bufferedAmount === 0) this.slow = false;
    if (socket.bufferedAmount <= AHEAD_BYTES) return;
    const [before, since] = [socket.bufferedAmount, this.seams.now()];
    while (current() && socket.bufferedAmount > AHEAD_BYTES / 2)
      await new Promise<void>((resolve) => this.seams.after(4, resolve));
    if (current()) this.slow = (before - socket.bufferedAmount) * 1000 < SLOW_BYTES * (this.seams.now() - since);
  }
}
