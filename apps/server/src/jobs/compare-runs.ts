/** What is known of the answer of a job from other runs of it: which there are, and whether they wrote the same. */
import { faultsOf, type ComparisonView, type JobReport, type JobView } from '@mayfly/wire';
import type { Runtime } from '../runtime.ts';
import { comparable, differencesOf } from './comparison.ts';
import type { WrittenHashes } from './written-output.ts';

export async function compareRuns(runtime: Runtime, hashes: WrittenHashes, view: JobView): Promise<ComparisonView> {
  const root = runtime.spec(view.id)!.compareWith ?? view.id;
  const others = runtime.jobs().flatMap((id) => {
    const spec = runtime.spec(id);
    const other = id !== view.id && spec && (spec.compareWith ?? id) === root ? runtime.view(id) : undefined;
    return other ? [other] : [];
  });
  const written = others.length > 0 ? await hashes.of(view) : { stdout: [], stderr: [], files: [] };
  const runs: ComparisonView['runs'] = [];
  for (const other of others) {
    const about = { job: other.id, name: other.name, state: other.state, faults: faultsOf(other) };
    if (!comparable(view) || !comparable(other)) runs.push({ ...about, differences: [] });
    else {
      const differences = differencesOf({ view, written }, { view: other, written: await hashes.of(other) });
      runs.push({ ...about, same: differences.length === 0, differences });
    }
  }
  const compared = [...written.stdout, ...written.files];
  return {
    job: view.id,
    streams: written.stdout.length,
    files: written.files.length,
    bytes: compared.reduce((n, f) => n + f.bytes, 0),
    runs,
  };
}

/** The runs that were compared, as a report has them. */
export const reported = ({ runs }: ComparisonView): NonNullable<JobReport['comparisons']> =>
  runs.flatMap(({ job, faults, same, differences }) =>
    same === undefined ? [] : [{ job, faults, same, differences }],
  );
