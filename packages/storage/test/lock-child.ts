/**
 * A process that has a data directory, or is refused: prints `open <ms>` or `refused <code> <message>`; then, for every
 * line `write <n>` of its input, `stored <n>` or `failed <code>`; and `lost` when another process has taken it.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { lockDirectory, openEmbeddedStorage } from '../src/index.ts';

const [directory, beatMs, watchMs] = process.argv.slice(2) as [string, string, string];
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};
const codeOf = (error: unknown): string => (error as { code: string }).code;

const began = performance.now();
const lock = await lockDirectory(directory, { beatMs: Number(beatMs), watchMs: Number(watchMs) }).catch(
  (error: Error) => {
    say(`refused ${codeOf(error)} ${error.message}`);
    process.exit(0);
  },
);
lock.lost.addEventListener('abort', () => say('lost'));
const storage = await openEmbeddedStorage({ dataDir: directory, lock });
const stream = await storage.log.open('job/cm0/t0');
say(`open ${Math.round(performance.now() - began)}`);
for await (const line of createInterface(process.stdin)) {
  const n = line.split(' ')[1]!;
  // Every way by itself: a message, and a record.
  try {
    stream.append(Buffer.from(n));
    await stream.sync();
    say(`appended ${n}`);
  } catch (error) {
    say(`failed ${codeOf(error)}`);
  }
  await storage.registry.commit([[`n/${n}`, n]]).then(
    () => say(`stored ${n}`),
    (error: unknown) => say(`failed ${codeOf(error)}`),
  );
}
