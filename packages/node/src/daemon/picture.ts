/** The small picture that a job has written so far, as the page of a volunteer shows it. */
import type { JobId } from '@mayfly/wire';
import type { HeldRank } from './jobs.ts';

export interface Picture {
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** undefined: it has none, or no rank of it is here. */
export async function pictureOf(server: string, job: JobId, held: Iterable<HeldRank>): Promise<Picture | undefined> {
  for (const { assignment: a } of held) {
    if (a.job !== job) continue;
    const answer = await fetch(new URL(`/data/picture/${job}?cap=${encodeURIComponent(a.capability)}`, server)).catch(
      () => undefined,
    );
    const path = answer?.headers.get('mayfly-path');
    if (!answer?.ok || !path) return undefined;
    return { path, bytes: new Uint8Array(await answer.arrayBuffer()) };
  }
  return undefined;
}
