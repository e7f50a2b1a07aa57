/**
 * The stack in a report of how a task ended: places of the bundle, or of the module, become places of what was
 * submitted.
 */
import { mapStack, symbolise } from '@mayfly/toolchain';
import type { ExitReport, JobId } from '@mayfly/wire';
import type { JobStore, ProgramAt } from './job-store.ts';

export function mappedReport(
  store: JobStore,
  job: JobId,
  program: ProgramAt | undefined,
  report: ExitReport,
): ExitReport {
  if (!program || report.abort?.stack === undefined) return report;
  try {
    const symbols = store.symbolsNow(job, program);
    if (!symbols) return report;
    const stack =
      program.language === 'typescript'
        ? mapStack(report.abort.stack, Buffer.from(symbols).toString('utf8'))
        : symbolise(report.abort.stack, symbols);
    return { ...report, abort: { ...report.abort, stack } };
  } catch {
    return report;
  }
}
