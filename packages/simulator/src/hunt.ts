/** Looks for a planted bug with the seeds of the campaign. */
import type { Planted, Rule } from './planted.ts';
import { run, type RunReport } from './run.ts';

export interface Found {
  readonly rule: string;
  /** Seeds that were run; the last one found it. */
  readonly seeds: number;
  readonly report: RunReport;
  /** What the same seed does with nothing undone: a violation here is no planted bug, but a real one. */
  readonly innocent: string | undefined;
}

/** undefined: not within its seeds. No rank has teammates unless the rule is about them. */
export function hunt(p: Planted & { readonly rule: Rule }, first = 1): Found | undefined {
  const held = { ...p.held, setup: { team: 1, ...p.held?.setup } };
  for (let seeds = 1; seeds <= p.within; seeds++) {
    const report = run(first + seeds - 1, { undone: p.rule, ...held });
    if (report.violation !== undefined)
      return { rule: p.rule, seeds, report, innocent: run(report.seed, held).violation };
  }
  return undefined;
}
