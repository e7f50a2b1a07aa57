/**
 * Whether two runs did the same, as far as the world sees: how they ended, standard output of every rank, result files.
 * Pure.
 */
import type { JobView } from '@mayfly/wire';
import type { Written } from './written-output.ts';

export interface Run {
  view: Pick<JobView, 'id' | 'state' | 'exitCode' | 'error' | 'program' | 'parts'>;
  written: Written;
}

/** Sentences at most. */
const MOST = 20;
/** A cancelled job shows nothing: a person ended it. */
export const comparable = (view: Pick<JobView, 'state'>): boolean => view.state === 'done' || view.state === 'failed';

/** Sentences about what is not the same in `b`; none: all equal. */
export function differencesOf(a: Run, b: Run): string[] {
  const out: string[] = [];
  if (hashesOf(a) !== hashesOf(b)) out.push('The compiled programs differ: the compiler has changed between the runs.');
  const [endA, endB] = [endOf(a), endOf(b)];
  if (endA !== endB) out.push(`This run ${endA}, the other ${endB}.`);
  const [saidA, saidB] = [saidBy(a), saidBy(b)];
  for (const name of new Set([...saidA.keys(), ...saidB.keys()])) {
    const [x, y] = [saidA.get(name), saidB.get(name)];
    if (!x || !y) out.push(`${name} is only in ${x ? 'this run' : 'the other run'}.`);
    else if (x.sha256 === undefined || y.sha256 === undefined) out.push(`${name} could not be read.`);
    else if (x.bytes !== y.bytes) out.push(`${name} has ${x.bytes} bytes here, ${y.bytes} in the other run.`);
    else if (x.sha256 !== y.sha256) out.push(`${name} has different content.`);
  }
  return out.length > MOST ? [...out.slice(0, MOST - 1), `… and ${out.length - MOST + 1} more.`] : out;
}

/** Of all programs of the job. */
const hashesOf = ({ view }: Run): string => [view, ...(view.parts ?? [])].map((p) => p.program.hash).join();

const endOf = ({ view }: Run): string =>
  view.state === 'done'
    ? `ended with exit code ${view.exitCode ?? 0}`
    : `failed${view.error ? ` (${view.error.code})` : ''}`;

const saidBy = ({ written }: Run): Map<string, Written['files'][number]> =>
  new Map([
    ...written.stdout.map((s) => [`Standard output of rank ${s.rank}`, s] as const),
    ...written.files.map((f) => [`The file ${f.path}`, f] as const),
  ]);
