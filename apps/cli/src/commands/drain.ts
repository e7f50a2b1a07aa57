/** `mayfly server drain`: another server of the database serves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { sayLine } from '../terminal.ts';

/** The servers settle who serves within a second; opening many jobs takes longer. */
const LONGEST_MS = 60_000;
const LOOK_MS = 250;

export async function drain(options: ConnectionOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  const owner = async (): Promise<string | undefined> =>
    (await client.server()).servers?.find((server) => server.owns)?.who;
  try {
    const before = await owner();
    await client.drain();
    for (const end = performance.now() + LONGEST_MS; performance.now() < end;) {
      await sleep(LOOK_MS);
      // Nobody answers in between.
      const now = await owner().catch(() => undefined);
      if (now === undefined || now === before) continue;
      sayLine(`${now} serves; ${before ?? 'the server before'} stands by`);
      return Exit.OK;
    }
    throw new CommandError(
      `${before ?? 'the server'} was drained, and no other server serves after ${LONGEST_MS / 1000} s: look at the ` +
        'logs of those that stood by',
      Exit.FAILED,
    );
  } finally {
    await client.close();
  }
}
