/** The streams of one Channel Memory: on disk, or in memory where its V-protocol keeps them there. */
import { asArrival, type LogIo, type LogPolicy } from '@mayfly/protocols';
import type { LogStream, MessageLog } from '@mayfly/storage/ports';
import { MayflyError } from '@mayfly/wire';
import { MemoryStream } from './memory-stream.ts';

export class LogStreams {
  readonly #streams = new Map<string, LogStream>();

  constructor(
    private readonly log: MessageLog,
    private readonly prefix: string,
    private readonly keeps: Pick<LogPolicy, 'keeps' | 'keepsOutput'>,
  ) {}

  /** Bytes of all of them. */
  get bytes(): number {
    let n = 0;
    for (const s of this.#streams.values()) n += s.bytes;
    return n;
  }

  async open(names: readonly string[]): Promise<void> {
    for (const name of names) this.#streams.set(name, await this.#open(name));
  }

  /** What a wave has recorded is always durable, and what came from other clusters. */
  async #open(name: string): Promise<LogStream> {
    const { keeps, keepsOutput } = this.keeps;
    const kept = /^[vx]/.test(name) ? 'durable' : name.startsWith('w') ? keepsOutput : keeps;
    return kept === 'memory' ? new MemoryStream(name) : this.log.open(this.prefix + name);
  }

  /** Takes over those of the other. */
  join(other: LogStreams): void {
    for (const [name, stream] of other.#streams) this.#streams.set(name, stream);
  }

  of(name: string): LogStream {
    const s = this.#streams.get(name);
    if (!s) throw new MayflyError('INTERNAL', `no stream ${name}`);
    return s;
  }

  /** @param lsn the number that the core expects for it. @throws MayflyError */
  append(name: string, lsn: number, bytes: Uint8Array): void {
    const got = this.of(name).append(bytes);
    if (got !== lsn) throw new MayflyError('INTERNAL', `${name}: record ${got} where the core expects ${lsn}`);
  }

  /** @throws MayflyError */
  read(name: string, lsn: number): Uint8Array {
    const record = this.of(name).read(lsn);
    if (!record) throw new MayflyError('INTERNAL', `${name}: record ${lsn} is not there any more`);
    return record;
  }

  /** @throws MayflyError */
  copy({ from, lsns, to, lsn, arrival }: Extract<LogIo, { type: 'copy' }>): void {
    lsns.forEach((at, i) => {
      const record = this.read(from, at);
      const number = i === lsns.length - 1 ? arrival : 0;
      this.append(to, lsn + i, arrival === undefined ? record : asArrival(record, number!));
    });
  }

  /** Never throws: what cannot be closed is let go. */
  async close(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((s) => s.close().catch(() => undefined)));
  }
}
