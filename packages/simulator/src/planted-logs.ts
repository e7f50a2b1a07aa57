/** Planted bugs between a Channel Memory and the others of its job. */
import { ServedLog, type CmEvent } from '@mayfly/protocols';
import type { Rule } from './planted.ts';

/** a recovered core does not wait for the reports of its receivers. */
class OpensBeforeReports extends ServedLog {
  override step(event: CmEvent): void {
    super.step(event.type === 'recovered' ? { ...event, fresh: true } : event);
  }
}

/** no other Channel Memory of the job hears what this one is sure of. */
class Silent extends ServedLog {
  override witness(): undefined {
    return undefined;
  }
}

/** what the older of two waves has recorded goes. */
class ForgetsEarly extends ServedLog {
  override step(event: CmEvent): void {
    super.step(event.type === 'waveOver' ? { type: 'forgetWaves', before: event.wave } : event);
    if (event.type === 'waveOver') super.step(event);
  }
}

const LOGS: Partial<Record<Rule, typeof ServedLog>> = {
  'opens-before-reports': OpensBeforeReports,
  'wave-forgotten': ForgetsEarly,
  'others-not-asked': Silent,
};

export const servedLog = (undone: Rule | undefined): typeof ServedLog => (undone && LOGS[undone]) ?? ServedLog;
