/**
 * The simulator's faulty log keeps the contract of the port that it stands for: what the campaign shows of it, it shows
 * of the files.
 */
import { DiskFull, FaultyLog, Random } from '@mayfly/simulator';
import { MayflyError } from '@mayfly/wire';
import { messageLogSuite } from '../src/acceptance/index.ts';
import type { Durability, LogStream, MessageLog } from '../src/ports/index.ts';

class Stream implements LogStream {
  closed = false;

  constructor(
    private readonly log: FaultyLog,
    readonly name: string,
  ) {}

  get next(): number {
    return this.log.next(this.name);
  }
  get bytes(): number {
    return this.log.bytes(this.name);
  }
  append(...parts: Uint8Array[]): number {
    if (this.closed) throw new Error('closed');
    const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    parts.reduce((o, p) => (whole.set(p, o), o + p.length), 0);
    try {
      return this.log.append(this.name, whole);
    } catch (e) {
      throw e instanceof DiskFull ? new MayflyError('DISK_FULL', e.message) : e;
    }
  }
  read(lsn: number): Uint8Array | undefined {
    return this.log.read(this.name, lsn);
  }
  sync(): Promise<void> {
    this.log.sync(this.name, this.next);
    return Promise.resolve();
  }
  trim(from: number, to: number, keep?: ReadonlySet<number>): void {
    this.log.trim(this.name, from, to, keep);
  }
  scan(): Iterable<{ lsn: number; bytes: Uint8Array }> {
    return this.log.scan(this.name);
  }
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

class Port implements MessageLog {
  private readonly open_ = new Map<string, Stream>();

  constructor(
    private readonly log: FaultyLog,
    readonly durability: Durability,
  ) {}

  open(name: string): Promise<Stream> {
    let s = this.open_.get(name);
    if (!s || s.closed) {
      this.log.open(name);
      this.open_.set(name, (s = new Stream(this.log, name)));
    }
    return Promise.resolve(s);
  }
  list(prefix: string): Promise<string[]> {
    return Promise.resolve(this.log.names().filter((n) => n.startsWith(prefix)));
  }
  remove(name: string): Promise<void> {
    this.log.remove(name);
    this.open_.delete(name);
    return Promise.resolve();
  }
  /** What is closed is no longer in the process. */
  close(): Promise<void> {
    for (const s of this.open_.values()) s.closed = true;
    this.log.flush();
    return Promise.resolve();
  }
}

let seed = 0;
for (const durability of ['kernel', 'sync-only'] as const)
  messageLogSuite(`the simulator's faulty log, ${durability}`, () => {
    const log = new FaultyLog();
    log.lazy = durability === 'sync-only';
    const random = new Random(++seed);
    return Promise.resolve({
      open: () => Promise.resolve(new Port(log, durability)),
      crash: () => Promise.resolve(log.killed()),
      powerLoss: () => Promise.resolve(void log.powerLoss(random)),
      fill: (full: boolean) => (log.full = full),
      dispose: () => Promise.resolve(),
    });
  });
