/**
 * Can ranks of this program have images at all? A module can, wherever it calls MPI; a script only where its own
 * sources speak of `checkpoint`.
 */
import type { JobId, ProgramLanguage } from '@mayfly/wire';
import type { JobStore } from './job-store.ts';

export async function takesImages(store: JobStore, job: JobId, language: ProgramLanguage): Promise<boolean> {
  if (language !== 'typescript') return true;
  // The source map has the submitted sources, and nothing of ours.
  const map = await store.sourceMap(job).catch(() => 'checkpoint');
  return /\bcheckpoint\b/.test(map);
}
