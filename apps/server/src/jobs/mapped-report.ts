/**
 * A report of how a task ended, which its node made: without characters that command a terminal; in its stack, places
 * of the bundle, or of the module, become places of what was submitted.
 */
import { mapStack, symbolise } from '@mayfly/toolchain';
import { oneLine, plainText, type ExitReport, type JobId } from '@mayfly/wire';
import type { JobStore, ProgramAt } from './job-store.ts';

export function mappedReport(
  store: JobStore,
  job: JobId,
  program: ProgramAt | undefined,
  told: ExitReport,
): ExitReport {
  const report = plain(told);
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

function plain({ abort, ...report }: ExitReport): ExitReport {
  if (abort === undefined) return report;
  const { code, message, stack } = abort;
  return {
    ...report,
    abort: {
      code: oneLine(code),
      message: plainText(message),
      ...(stack === undefined ? {} : { stack: plainText(stack) }),
    },
  };
}
