/**
 * Can ranks of one of these programs have images at all? A module can, wherever it calls MPI; a script only where its
 * own sources speak of `checkpoint`.
 */
import type { JobId, ProgramLanguage } from '@mayfly/wire';
import type { JobStore } from './job-store.ts';

export async function takesImages(
  store: JobStore,
  job: JobId,
  programs: readonly { language: ProgramLanguage }[],
): Promise<boolean> {
  for (const [part, { language }] of programs.entries()) {
    if (language !== 'typescript') return true;
    // The source map has the submitted sources, and nothing of ours.
    if (/\bcheckpoint\b/.test(await store.sourceMap(job, part).catch(() => 'checkpoint'))) return true;
  }
  return false;
}
