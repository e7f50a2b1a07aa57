/**
 * `npm run simulate -- --seeds N [--seed S] [--verbose]`: drives the protocol cores through N seeds of faults and checks each answer.
 * Exit code 0 when every seed ended with a correct answer; a failing seed prints its parameters and its history.
 */
import { parseArgs } from 'node:util';
import { FAULTS, runAndCompare, type RunReport } from '@mayfly/simulator';

function histogram(faults: Map<string, number>): string {
  const most = Math.max(1, ...faults.values());
  return FAULTS.map((k) => {
    const n = faults.get(k) ?? 0;
    return `  ${k.padEnd(16)} ${String(n).padStart(7)} ${'█'.repeat(Math.round((30 * n) / most))}`;
  }).join('\n');
}

export async function simulateCommand(argv: string[]): Promise<number> {
  const { values } = parseArgs({
    args: argv,
    options: { seeds: { type: 'string' }, seed: { type: 'string' }, verbose: { type: 'boolean', default: false } },
  });
  const first = values.seed === undefined ? 1 : Number(values.seed);
  const count = Number(values.seeds ?? (values.seed === undefined ? 200 : 1));
  if (!Number.isInteger(first) || !Number.isInteger(count) || count < 1) {
    console.error('usage: npm run simulate -- --seeds N [--seed S] [--verbose]');
    return 2;
  }
  const faults = new Map<string, number>();
  const failed: RunReport[] = [];
  let [lost, images, repeated, simulated] = [0, 0, 0, 0];
  const t0 = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    const r = runAndCompare(seed);
    for (const [k, n] of Object.entries(r.faults)) faults.set(k, (faults.get(k) ?? 0) + n);
    if (r.lostLog) lost++;
    images += r.counts.image ?? 0;
    repeated += r.repeated;
    simulated += r.simulatedMs;
    if (r.violation !== undefined) {
      failed.push(r);
      console.log(`seed ${seed}: ${r.violation.split('\n')[0]}\n  again: npm run simulate -- --seed ${seed} --verbose`);
    }
    if (values.verbose) console.log(`parameters ${r.parameters}\n${r.notes.join('\n')}`);
  }
  const total = [...faults.values()].reduce((a, b) => a + b, 0);
  console.log(histogram(faults));
  console.log(
    `${count} seeds, ${total} faults, ${Math.round(simulated / 1000)} simulated seconds in ${((performance.now() - t0) / 1000).toFixed(1)} s; ` +
      `${images} images, ${repeated} messages sent again by re-execution, ${lost} runs ended by LOST_LOG (power loss beyond "behind", detected)`,
  );
  for (const r of failed.slice(0, 3)) console.log(`\nseed ${r.seed}\n${r.parameters}\n${r.violation}\n${r.notes.slice(-40).join('\n')}`);
  console.log(failed.length === 0 ? 'every run ended with a correct answer' : `${failed.length} of ${count} seeds failed`);
  return failed.length === 0 ? 0 : 1;
}
