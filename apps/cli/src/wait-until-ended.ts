/** Waits for the end of a job without its output; and what a wait of any kind has in common. */
import type { JobView } from '@mayfly/wire';
import { passes, type Client } from './client.ts';
import { CommandError, Exit } from './exit-codes.ts';

export const hasEnded = (view: JobView): boolean =>
  view.state === 'done' || view.state === 'failed' || view.state === 'cancelled';

/** How long a server may be away (restarting) before the command gives up. */
export const AWAY_MS = 120_000;
export const awayTooLong = (id: string): CommandError =>
  new CommandError(
    `the server has not answered for ${AWAY_MS / 1000} s; job ${id} resumes when the server is back`,
    Exit.UNAVAILABLE,
  );

const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 1000;

/**
 * @param until ms since the epoch
 * @returns the last view: of the end, or of the moment `until`
 * @throws CommandError, ApiFailure; a server that is not there at the first look fails at once
 */
export async function waitUntilEnded(
  client: Client,
  id: string,
  until: number,
  seen: (view: JobView) => void,
): Promise<JobView> {
  let view: JobView | undefined;
  let answered = 0;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_LOOK_MS, 1.5 * pause)) {
    try {
      seen((view = await client.job(id)));
      answered = Date.now();
    } catch (error) {
      if (view === undefined || !passes(error)) throw error;
      if (Date.now() - answered > AWAY_MS) throw awayTooLong(id);
    }
    const left = until - Date.now();
    if (hasEnded(view) || left <= 0) return view;
    await new Promise((go) => setTimeout(go, Math.min(pause, left)));
  }
}
