/** A LogStream in memory, for jobs of protocol 'none': nothing is kept beyond the life of the server. */
import type { LogStream, Lsn } from '@mayfly/storage/ports';

export class MemoryStream implements LogStream {
  readonly name: string;
  #records = new Map<Lsn, Uint8Array>();
  #next = 0;
  #bytes = 0;

  constructor(name: string) {
    this.name = name;
  }
  get next(): Lsn {
    return this.#next;
  }
  get bytes(): number {
    return this.#bytes;
  }
  append(...parts: Uint8Array[]): Lsn {
    const record = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let o = 0;
    for (const p of parts) {
      record.set(p, o);
      o += p.length;
    }
    this.#records.set(this.#next, record);
    this.#bytes += record.length;
    return this.#next++;
  }
  read(lsn: Lsn): Uint8Array | undefined {
    return this.#records.get(lsn)?.slice();
  }
  async sync(): Promise<void> {}
  trim(from: Lsn, to: Lsn, keep?: ReadonlySet<Lsn>): void {
    for (const lsn of [...this.#records.keys()])
      if (lsn >= from && lsn < to && !keep?.has(lsn)) {
        this.#bytes -= this.#records.get(lsn)!.length;
        this.#records.delete(lsn);
      }
  }
  *scan(): Iterable<{ lsn: Lsn; bytes: Uint8Array }> {
    for (const [lsn, bytes] of this.#records) yield { lsn, bytes: bytes.slice() };
  }
  async close(): Promise<void> {}
}
