/**
 * The comm worker's connections to the Channel Memories: opened on demand, reconnected with back-off for as long as a
 * task is here, frames of one turn coalesced into few socket messages.
 *
 * Invariants
 *  L1 After `onDown(cm)` nothing of that connection is passed on, and nothing is sent before the next `onUp(cm)`.
 *  L2 Frames to one Channel Memory leave in the order of `send`.
 */
import { socketLink, type DataLink } from './data-link.ts';
import type { CommSeams } from './seams.ts';

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5_000;
/** A connection that does not open within this time is closed. */
const OPEN_MS = 10_000;
/** Frames up to this size are copied together into one message; larger ones go alone. */
const SMALL_BYTES = 16 * 1024;
const MESSAGE_BYTES = 64 * 1024;

interface Link {
  url: string;
  state: 'closed' | 'opening' | 'open';
  link: DataLink | undefined;
  queue: Uint8Array[];
  attempts: number;
  webSocketWorked: boolean;
  polling: boolean;
  cancel: (() => void) | undefined;
}

export interface LinksEvents {
  onUp(cm: number): void;
  onDown(cm: number): void;
  onMessage(cm: number, bytes: Uint8Array): void;
}

export class Links {
  private readonly links: Link[];
  private wanted = false;

  constructor(
    urls: readonly string[],
    private readonly seams: CommSeams,
    private readonly events: LinksEvents,
  ) {
    this.links = urls.map((url) => ({
      url,
      state: 'closed',
      link: undefined,
      queue: [],
      attempts: 0,
      webSocketWorked: false,
      polling: false,
      cancel: undefined,
    }));
  }

  /** True while every link is open. */
  get up(): boolean {
    return this.links.every((l) => l.state === 'open');
  }

  /** Largest number of bytes that wait in one socket. */
  get buffered(): number {
    let most = 0;
    for (const l of this.links) if (l.link && l.state === 'open') most = Math.max(most, l.link.buffered);
    return most;
  }

  open(): void {
    this.wanted = true;
    this.links.forEach((l, cm) => {
      if (l.state === 'closed' && !l.cancel) this.connect(l, cm);
    });
  }

  close(): void {
    this.wanted = false;
    this.links.forEach((l, cm) => {
      l.cancel?.();
      l.cancel = undefined;
      l.attempts = 0;
      const { link, state } = l;
      l.link = undefined;
      l.state = 'closed';
      l.queue = [];
      link?.close();
      if (state === 'open') this.events.onDown(cm);
    });
  }

  /** Closes one connection (the other side broke the protocol, or has moved). It reopens automatically. */
  drop(cm: number): void {
    this.links[cm]?.link?.close();
  }

  private connect(l: Link, cm: number): void {
    l.state = 'opening';
    // A link that never worked as a WebSocket tries long polling every third time.
    l.polling ||= !l.webSocketWorked && l.attempts % 3 === 2;
    const mine: { link?: DataLink } = {};
    const current = (): boolean => mine.link === undefined || l.link === mine.link;
    const events = {
      onOpen: (): void => {
        if (!current()) return;
        l.cancel?.();
        l.cancel = undefined;
        l.state = 'open';
        l.attempts = 0;
        if (!l.polling) l.webSocketWorked = true;
        this.events.onUp(cm);
      },
      onMessage: (bytes: Uint8Array): void => {
        if (current() && l.state === 'open') this.events.onMessage(cm, bytes);
      },
      onClose: (): void => {
        if (!current() || l.state === 'closed') return;
        const was = l.state;
        l.state = 'closed';
        l.link = undefined;
        l.queue = [];
        l.cancel?.();
        l.cancel = undefined;
        if (l.polling && was === 'opening') l.polling = false;
        if (was === 'open') this.events.onDown(cm);
        if (this.wanted) this.retry(l, cm);
      },
    };
    try {
      mine.link = socketLink(l.polling ? this.seams.openPolling : this.seams.openSocket, l.url, events);
      l.link = mine.link;
    } catch {
      l.state = 'closed';
      this.retry(l, cm);
      return;
    }
    l.cancel ??= this.seams.after(OPEN_MS, () => {
      l.cancel = undefined;
      if (l.state === 'opening') l.link?.close();
    });
  }

  private retry(l: Link, cm: number): void {
    const base = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(l.attempts, 10));
    l.attempts++;
    // Full jitter on the upper half: a room of tabs must not come back in the same instant.
    l.cancel = this.seams.after(base / 2 + (this.seams.random() * base) / 2, () => {
      l.cancel = undefined;
      if (this.wanted) this.connect(l, cm);
    });
  }

  send(cm: number, bytes: Uint8Array): void {
    const l = this.links[cm];
    if (l?.state === 'open') l.queue.push(bytes);
  }

  /** Sends what the turn queued. */
  flush(): void {
    for (const l of this.links) {
      if (l.queue.length === 0) continue;
      const queue = l.queue;
      l.queue = [];
      if (queue.length === 1) l.link?.send(queue[0]!);
      else for (const message of coalesce(queue)) l.link?.send(message);
    }
  }
}

/** Joins frames into messages: neighbours in one buffer without a copy, other small ones with one. */
export function coalesce(frames: readonly Uint8Array[]): Uint8Array[] {
  const out: Uint8Array[] = [];
  let group: Uint8Array[] = [];
  let bytes = 0;
  const end = (): void => {
    if (group.length === 1) out.push(group[0]!);
    else if (group.length > 1) {
      const joined = new Uint8Array(bytes);
      let o = 0;
      for (const g of group) {
        joined.set(g, o);
        o += g.length;
      }
      out.push(joined);
    }
    group = [];
    bytes = 0;
  };
  for (const f of frames) {
    const last = group[group.length - 1];
    if (
      last &&
      last.buffer === f.buffer &&
      last.byteOffset + last.length === f.byteOffset &&
      bytes + f.length <= 4 * MESSAGE_BYTES
    ) {
      group[group.length - 1] = new Uint8Array(f.buffer, last.byteOffset, last.length + f.length);
      bytes += f.length;
      continue;
    }
    if (f.length > SMALL_BYTES || bytes + f.length > MESSAGE_BYTES || (last && last.length > SMALL_BYTES)) end();
    group.push(f);
    bytes += f.length;
  }
  end();
  return out;
}
