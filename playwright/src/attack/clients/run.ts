/** `npm run attack -- --clients`: every hostile client beside an honest job, and what became of both. */
import { ClientArena } from './arena.ts';
import { RULES, type Way } from './way.ts';

export function listWays(ways: readonly Way[]): void {
  for (const w of ways)
    console.log(
      `${w.name}${w.server === undefined ? '' : ` (server ${w.server.join(' ')})`}\n  ${w.tries}\n  holds: ${w.holds}`,
    );
  console.log(`${ways.length} hostile clients. For every one of them:\n${RULES.map((r) => `  ${r}`).join('\n')}`);
}

/** @returns the names of those that got through */
export async function runWays(ways: readonly Way[]): Promise<string[]> {
  const arena = new ClientArena();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void arena.close().finally(() => process.exit(130)));
  const failed: string[] = [];
  try {
    for (const way of ways) {
      const v = await arena.run(way);
      console.log(
        `${v.broken.length === 0 ? 'held  ' : 'FAILED'}  ${way.name.padEnd(32)} ` +
          `gap ${(v.gapMs / 1000).toFixed(2)} s  memory ${Math.round(v.rss / 2 ** 20)} MiB  laps ${v.laps}  ` +
          `slow ${v.slowness.toFixed(1)}  ${(v.ms / 1000).toFixed(1)} s`,
      );
      for (const what of v.broken) console.log(`          ${what}`);
      if (v.broken.length > 0) failed.push(way.name);
    }
  } finally {
    await arena.close();
  }
  return failed;
}
