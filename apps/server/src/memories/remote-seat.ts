/**
 * A seat at another server (seat-server.ts), for the host of its Channel Memory here.
 *
 * Owns: the links that reached this server and go on to that one (tunnels).
 */
import { readWorldBody, type ServedLog, type WorldBody } from '@mayfly/protocols';
import { MayflyError, type JobId } from '@mayfly/wire';
import type { CmSpec } from '../hosts/channel-memory-deps.ts';
import type { DataLink } from '../hosts/data-link.ts';
import { SeatLost, type Seat, type SeatIo, type Sitting } from '../hosts/memory-seat.ts';
import type { Traffic } from '../hosts/traffic.ts';
import { RemoteCore } from './remote-core.ts';
import type { SeatReport, ToOwner, ToSeats } from './seat-messages.ts';
import { tunnel } from './tunnel.ts';

/** The server of the seat. */
export interface SeatHost {
  /** host:port */
  readonly address: string;
  send(message: ToSeats): void;
  /** A WebSocket to it. */
  connect(path: string, client: string): import('ws').WebSocket;
  /** The seat hears nothing any more. */
  forget(seat: number): void;
  /** One more seat. */
  seat(spec: CmSpec, traffic: Traffic, sitting: Sitting): Seat;
}

/** A server that does not close a seat for so long is not waited for: its writes are fenced. */
const CLOSE_MS = 10_000;

let seats = 0;

export class RemoteSeat implements Seat {
  readonly number = ++seats;
  readonly server: string;
  readonly #spec: CmSpec;
  readonly #host: SeatHost;
  readonly #traffic: Traffic;
  readonly #sitting: Sitting;
  readonly #tunnels = new Set<DataLink>();
  #served: ServedLog | undefined;
  #core: RemoteCore | undefined;
  #report: SeatReport | undefined;
  #tapped = false;
  #previewed = 0;
  #lost: SeatLost | undefined;
  #recovered: { resolve: (report: SeatReport) => void; reject: (error: Error) => void } | undefined;
  readonly #grown: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #closed: (() => void) | undefined;

  constructor(spec: CmSpec, host: SeatHost, traffic: Traffic, sitting: Sitting) {
    this.server = host.address;
    this.#spec = spec;
    this.#host = host;
    this.#traffic = traffic;
    this.#sitting = sitting;
  }

  get job(): JobId {
    return this.#spec.job;
  }
  get links(): number {
    return this.#report?.links ?? 0;
  }
  get logBytes(): number {
    return this.#report?.logBytes ?? 0;
  }

  async recover(served: ServedLog, superseded: () => boolean, counted: boolean): Promise<void> {
    const { authorise: _, ...options } = served.coreOptions();
    const { job, index, protocol } = this.#spec;
    const report = await new Promise<SeatReport>((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      this.#recovered = { resolve, reject };
      const traffic = counted ? {} : { traffic: this.#traffic.report() };
      this.#host.send({ type: 'open', seat: this.number, spec: { job, index, protocol }, options, ...traffic });
    });
    if (superseded()) return;
    this.#served = served;
    this.#core = new RemoteCore(options.size, options.line, report, (event) =>
      this.#send({ type: 'event', seat: this.number, event }),
    );
    this.#load(report);
    served.begun(this.#core);
  }

  #send(message: ToSeats): void {
    if (!this.#lost) this.#host.send(message);
  }

  // From its server

  heard(m: Exclude<ToOwner, { type: 'joined' | 'refused' | 'reports' }>): void {
    switch (m.type) {
      case 'recovered':
        return this.#recovered?.resolve(m.report);
      case 'answer': {
        const core = this.#core;
        if (!core) return;
        if (m.progress && m.effect.type === 'fenced') core.fenced(m.effect.task, m.progress);
        if (m.counts) core.counted(m.counts);
        return this.#served?.answered(core, m.effect);
      }
      case 'grown': {
        const waits = this.#grown.shift();
        if (m.error) waits?.reject(new MayflyError(m.error.code, m.error.message));
        else waits?.resolve();
        return;
      }
      case 'broke': {
        const error = new MayflyError(m.code, m.message);
        this.#recovered?.reject(error);
        if (this.#isServed()) this.#sitting.failed(error);
        return;
      }
      case 'closed':
        return this.#closed?.();
    }
  }

  reported(report: SeatReport): void {
    if (!this.#core) return;
    this.#core.reported(report);
    this.#load(report);
    const { tapped } = report;
    for (let i = 0; i + 3 < tapped.length; i += 4)
      this.#traffic.tap?.(tapped[i]!, tapped[i + 1]!, tapped[i + 2]!, tapped[i + 3]!);
    const on = this.#traffic.tap !== undefined;
    if (on !== this.#tapped) this.#send({ type: 'tap', seat: this.number, on });
    this.#tapped = on;
    const { previewed: bytes } = this.#core;
    if (bytes !== this.#previewed) this.#send({ type: 'preview', seat: this.number, bytes });
    this.#previewed = bytes;
  }

  #load(report: SeatReport): void {
    this.#report = report;
    this.#traffic.load(report.traffic);
  }

  /** Its server does not answer any more, or stops. */
  left(why: string): void {
    this.#lost = new SeatLost(`The server ${this.server} has a Channel Memory and ${why}.`);
    this.#recovered?.reject(this.#lost);
    for (const { reject } of this.#grown.splice(0)) reject(this.#lost);
    this.#closed?.();
    if (this.#isServed()) this.#sitting.failed(this.#lost);
  }

  #isServed(): boolean {
    return this.#core !== undefined && this.#served?.core === this.#core;
  }

  // From its host

  next(): Seat | undefined {
    return this.#lost ? undefined : this.#host.seat(this.#spec, this.#traffic, this.#sitting);
  }

  openStreams(size: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      this.#grown.push({ resolve, reject });
      this.#send({ type: 'grow', seat: this.number, size });
    });
  }

  hold(on: boolean): void {
    this.#send({ type: 'hold', seat: this.number, on });
  }

  connect(link: DataLink, first: Uint8Array): void {
    this.#tunnels.add(link);
    const path = `/data/cm/${this.#spec.index}?job=${this.#spec.job}`;
    tunnel(link, first, this.#host.connect(path, link.address), () => this.#tunnels.delete(link));
  }

  /** That server has ticks of its own; its input comes from here. */
  tick(): void {
    if (this.#isServed()) this.#served!.feedWaiting();
  }

  /** That server performs them. */
  perform(_: SeatIo): void {
    return;
  }
  /** That server has read it (GuestCore). */
  bodyOf(body: WorldBody): Uint8Array {
    return readWorldBody(body, () => {
      throw new MayflyError('INTERNAL', `the server ${this.server} sent output without its bytes`);
    });
  }
  sendOut(): void {
    return;
  }

  unlink(code: number, reason: string): { close(): Promise<void> } {
    for (const link of this.#tunnels) link.close(code, reason);
    this.#tunnels.clear();
    this.#core = undefined;
    const closed = this.#lost
      ? Promise.resolve()
      : new Promise<void>((resolve) => {
          this.#closed = resolve;
          setTimeout(resolve, CLOSE_MS).unref();
          this.#send({ type: 'close', seat: this.number, code, reason });
        });
    return { close: () => closed.finally(() => this.#host.forget(this.number)) };
  }

  /** The streams are closed after it. */
  synced(): Promise<void> {
    return Promise.resolve();
  }
}
