/**
 * The peer of the benchmark `store`: what PostgreSQL itself does with the same records, without a log above it.
 */
import pg from 'pg';

/** COPY in binary, from memory. */
class CopyIn {
  readonly text: string;
  readonly #bytes: readonly Buffer[];
  readonly done: Promise<void>;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(text: string, bytes: readonly Buffer[]) {
    this.text = text;
    this.#bytes = bytes;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }
  submit(connection: pg.Connection): void {
    connection.query(this.text);
  }
  handleCopyInResponse(connection: { sendCopyFromChunk(b: Buffer): void; endCopyFrom(): void }): void {
    for (const b of this.#bytes) connection.sendCopyFromChunk(b);
    connection.endCopyFrom();
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.#resolve();
  }
  handleError(error: Error): void {
    this.#reject(error);
  }
}

const HEAD = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const TRAILER = Buffer.from([0xff, 0xff]);

function row(stream: number, first: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(2 + 12 + 12 + 4);
  head.writeInt16BE(3, 0);
  for (const [at, value] of [
    [2, stream],
    [14, first],
  ] as const) {
    head.writeInt32BE(8, at);
    head.writeBigInt64BE(BigInt(value), at + 4);
  }
  head.writeInt32BE(bytes.length, 26);
  return Buffer.concat([head, bytes]);
}

export class PostgresPeer {
  readonly #client: pg.Client;
  #tables = 0;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async connect(url: string): Promise<PostgresPeer> {
    const client = new pg.Client(url);
    await client.connect();
    return new PostgresPeer(client);
  }

  async #table(): Promise<string> {
    const name = `peer_${++this.#tables}`;
    await this.#client.query(
      `CREATE TABLE ${name} (stream bigint NOT NULL, first bigint NOT NULL, bytes bytea NOT NULL,
         PRIMARY KEY (stream, first)); ALTER TABLE ${name} ALTER COLUMN bytes SET STORAGE EXTERNAL`,
    );
    return name;
  }

  /** ms until all rows are durable: `streams` streams with `each` rows of these bytes. */
  async copy(streams: number, each: number, bytes: Buffer): Promise<number> {
    const name = await this.#table();
    const began = performance.now();
    const rows: Buffer[] = [HEAD];
    for (let i = 0; i < each; i++) for (let s = 0; s < streams; s++) rows.push(row(s, i, bytes));
    // As a client sends them: not one by one.
    const all = Buffer.concat([...rows, TRAILER]);
    const parts: Buffer[] = [];
    for (let at = 0; at < all.length; at += 1 << 20) parts.push(all.subarray(at, at + (1 << 20)));
    const copy = new CopyIn(`COPY ${name} FROM STDIN (FORMAT binary)`, parts);
    this.#client.query(copy as unknown as pg.Query);
    await copy.done;
    const took = performance.now() - began;
    await this.#client.query(`DROP TABLE ${name}`);
    return took;
  }

  /** ms of each of so many commits of one row. */
  async commits(count: number, bytes: Buffer): Promise<number[]> {
    const name = await this.#table();
    const out: number[] = [];
    for (let i = 0; i < count; i++) {
      const began = performance.now();
      await this.#client.query({ name, text: `INSERT INTO ${name} VALUES (0, $1, $2)`, values: [i, bytes] });
      out.push(performance.now() - began);
    }
    return out;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}
