/** `mayfly wait <job…>`: until they have ended. A line of each; the exit code of the first that did not end well. */
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { endOf, tell } from '../ending.ts';
import { Exit } from '../exit-codes.ts';
import { describeJob, ProgressLine } from '../progress-line.ts';
import { saveResultFiles } from '../result-files.ts';
import { hasEnded, waitUntilEnded } from '../wait-until-ended.ts';
import { sayLine, warn } from '../terminal.ts';

export interface WaitOptions extends ConnectionOptions {
  /** Seconds, for all jobs together. */
  timeout?: number;
  outputDir?: string;
  quiet?: boolean;
}

export async function wait(ids: string[], options: WaitOptions): Promise<number> {
  const client = new Client(await needConnection(options));
  const progress = new ProgressLine(process.stderr.isTTY && !options.quiet ? process.stderr : undefined);
  const began = Date.now();
  const until = options.timeout === undefined ? Infinity : began + options.timeout * 1000;
  let code: number = Exit.OK;
  try {
    for (const id of ids) {
      let reason: string | undefined;
      const view = await waitUntilEnded(client, id, until, (v) => {
        progress.set(describeJob(v, (Date.now() - began) / 1000));
        // Without a progress line there is nothing that says so.
        if (!process.stderr.isTTY && !options.quiet && v.reason !== undefined && v.reason !== reason && !hasEnded(v))
          warn(`job ${id} ${v.state}: ${v.reason}`);
        reason = v.reason;
      });
      progress.end();
      if (!hasEnded(view)) {
        warn(`job ${id} has not ended after ${options.timeout} s (${view.state})`);
        return Exit.TIMEOUT;
      }
      if (!options.quiet) sayLine(`${id} ${endOf(view)}`);
      if (options.outputDir !== undefined) {
        const { refused } = await saveResultFiles(client, view, options.outputDir);
        for (const { path, why } of refused) warn(`result file ${path} was not written: ${why}`);
        if (refused.length > 0) code ||= Exit.FAILED;
      }
      const own = tell(view);
      code ||= own;
    }
    return code;
  } finally {
    progress.end();
    await client.close();
  }
}
