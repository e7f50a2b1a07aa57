/**
 * A process to be killed: appends to streams over PostgreSQL and prints the number of each record at once; syncs now
 * and then, and not any more from record 200 on.
 */
import { writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { openPostgresStorage } from '../../src/postgres/index.ts';
import { recordOf } from '../victim-data.ts';

const [url, schema, dataDir] = process.argv.slice(2) as [string, string, string];
const { log } = await openPostgresStorage({ url, schema, dataDir, patienceMs: 60_000, leaseMs: 1000 });
const streams = await Promise.all(['t0', 't1'].map((name) => log.open(name)));
// A stream whose sync has failed takes nothing more: then this process only waits for its end.
process.on('uncaughtException', () => setInterval(() => undefined, 1000));
for (const from = streams[0]!.next; ; await turn())
  for (const s of streams) {
    const lsn = s.append(recordOf(s.name, s.next));
    writeSync(1, `${s.name} ${lsn}\n`);
    if (lsn - from < 200 && lsn % 16 === 0) void s.sync().catch(() => undefined);
  }
