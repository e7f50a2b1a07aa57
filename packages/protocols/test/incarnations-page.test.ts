/** docs/incarnations.md and the code say the same. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { defaultCheckpointSettings, defaultSettings } from '../src/index.ts';

const page = readFileSync(new URL('../../../docs/incarnations.md', import.meta.url), 'utf8');

it('names every default', () => {
  const {
    heartbeatMs,
    graceMs,
    silentMs,
    restartGraceMs,
    startMs,
    startAfterMs,
    stuckAfterMs,
    stuckFactor,
    quarantineMs,
    quarantineMaxMs,
    strangersMs,
    crashLimit,
    forgetMs,
  } = defaultSettings;
  const settings = {
    heartbeatMs,
    graceMs,
    silentMs,
    restartGraceMs,
    startMs,
    startAfterMs,
    stuckAfterMs,
    quarantineMs,
    quarantineMaxMs,
    strangersMs,
    forgetMs,
    coverMs: defaultCheckpointSettings.coverMs,
  };
  for (const [name, ms] of Object.entries(settings)) expect(page).toMatch(new RegExp(`\\(\`${name}\`\\) \\| ${ms} ms`));
  for (const [name, n] of Object.entries({ crashLimit, stuckFactor })) expect(page).toContain(`(\`${name}\`) | ${n} |`);
});

it('names every cause of a fault', () => {
  const source = readFileSync(new URL('../src/dispatcher/events.ts', import.meta.url), 'utf8');
  const causes = /export type FaultCause =([^;]*);/.exec(source)![1]!.match(/\w+/g)!;
  expect(causes.length).toBeGreaterThan(8);
  for (const c of causes) expect(page).toContain(`\`${c}\``);
});
