/** A process to be killed: writes through every adapter and prints, after each acknowledgement, what it was. */
import { writeSync } from 'node:fs';
import { blake3 } from 'hash-wasm';
import {
  Database,
  openPostgresImageStore,
  PostgresArchive,
  PostgresJobFiles,
  PostgresMessageLog,
  PostgresRegistry,
} from '../../src/postgres/index.ts';
import { pageOf, recordOf } from '../victim-data.ts';

const [url, schema, job] = process.argv.slice(2) as [string, string, string];
const database = await Database.open({ url, schema, patienceMs: 60_000 });
const say = (line: string): void => void writeSync(1, `${line}\n`);

const log = new PostgresMessageLog(database);
const registry = new PostgresRegistry(database);
const images = await openPostgresImageStore(database);
const files = new PostgresJobFiles(database);
const archive = await PostgresArchive.open(database);

const forEver = async (work: (n: number) => Promise<void>): Promise<void> => {
  for (let n = 0; ; n++) await work(n);
};
await Promise.all([
  ...['t0', 't1'].map(async (name) => {
    const stream = await log.open(name);
    await forEver(async () => {
      for (let i = 0; i < 7; i++) stream.append(recordOf(name, stream.next));
      const { next } = stream;
      await stream.sync();
      say(`${name} ${next - 1}`);
    });
  }),
  (async () => {
    const from = (await registry.entries('n/')).length;
    await forEver(async (i) => {
      const n = from + i;
      await registry.commit([
        [`n/${n}`, { n }],
        ['last', n],
      ]);
      say(`commit ${n}`);
    });
  })(),
  forEver(async (n) => {
    const raw = pageOf(n);
    await images.putPage(await blake3(raw), raw);
    say(`page ${n}`);
  }),
  (async () => {
    await files.create(job, new Map([['program.js', job]]));
    say(`job ${job}`);
    const stdin = await files.stdin(job);
    await forEver(async (n) => {
      await stdin.append(Buffer.from([n]), false);
      say(`stdin ${n}`);
      await archive.put(job, 'run', Buffer.from(String(n)));
      say(`run ${n}`);
    });
  })(),
]);
