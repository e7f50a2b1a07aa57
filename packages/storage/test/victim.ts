/** A process to be killed: writes for ever and prints, after each acknowledgement, what was acknowledged. */
import { writeSync } from 'node:fs';
import { blake3 } from 'hash-wasm';
import { openEmbeddedStorage } from '../src/index.ts';
import { pageOf, recordOf } from './victim-data.ts';

const [directory, mode] = process.argv.slice(2) as [string, string];
const storage = await openEmbeddedStorage({
  dataDir: directory,
  log: { segmentBytes: 20_000 },
  registry: { logBytes: 2000 },
});
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};

if (mode === 'append') {
  const streams = await Promise.all(['job/cm0/t0', 'job/cm0/t1'].map((n) => storage.log.open(n)));
  for (let i = 0; ; i++) {
    const s = streams[i % 2]!;
    const r = recordOf(s.name, s.next);
    const lsn = s.append(r.subarray(0, 5), r.subarray(5));
    say(`${s.name} ${lsn}`);
    if (i % 25 === 0) void s.sync();
    if (i % 100 === 0) await new Promise((go) => setImmediate(go));
  }
} else {
  for (let n = 0; ; n++) {
    await Promise.all([
      storage.registry
        .commit([
          [`n/${n}`, { n }],
          ['last', n],
        ])
        .then(() => say(`commit ${n}`)),
      (async () => {
        const raw = pageOf(n);
        await storage.images.putPage(await blake3(raw), raw);
        say(`page ${n}`);
      })(),
    ]);
  }
}
