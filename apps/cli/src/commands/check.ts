/** `mayfly check`: verifies a data directory, and restores what can be restored. */
import { checkDataDirectory, type DataCheck } from '@mayfly/server';
import { MayflyError } from '@mayfly/wire';
import { CommandError, Exit } from '../exit-codes.ts';
import { json, passing, say, sayLine } from '../terminal.ts';

export interface CheckOptions {
  repair?: boolean;
  json?: boolean;
}

const CANNOT_CHECK = 2;
const EVERY_MS = 500;
const size = (bytes: number): string =>
  bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;

export async function check(dataDir: string, options: CheckOptions): Promise<number> {
  const line = progressLine(options.json !== true && process.stderr.isTTY === true);
  let result: DataCheck;
  try {
    result = await checkDataDirectory(dataDir, { repair: options.repair ?? false, progress: line.show });
  } catch (error) {
    line.clear();
    const code = error instanceof MayflyError ? error.code : (error as NodeJS.ErrnoException).code;
    if (options.json) say(json({ error: { code, message: (error as Error).message } }, 0));
    throw new CommandError(`cannot check: ${(error as Error).message}`, CANNOT_CHECK);
  }
  line.clear();
  if (options.json) say(json(result, 1));
  else print(result, dataDir, options);
  // What was found counts, also when it is repaired now: look once more.
  return result.problems.length === 0 ? Exit.OK : 1;
}

function print({ problems, done, jobs, files, bytes }: DataCheck, dataDir: string, options: CheckOptions): void {
  for (const p of problems) sayLine(`${p.file} ${p.what}${p.harmless ? ' (nothing is lost)' : ''}`);
  if (done.length > 0) say(`\nRepaired:`);
  for (const d of done) sayLine(`  ${d}`);
  const read = `${jobs === 1 ? '1 job' : `${jobs} jobs`}, ${files} files, ${size(bytes)} read`;
  if (problems.length === 0) say(`Healthy: ${read}.`);
  else {
    const next = options.repair
      ? `Check once more: mayfly check ${dataDir}`
      : `To restore what can be restored: mayfly check ${dataDir} --repair`;
    say(`\n${problems.length === 1 ? '1 problem' : `${problems.length} problems`} (${read}). ${next}`);
  }
}

function progressLine(on: boolean): { show: (file: string, bytes: number) => void; clear: () => void } {
  let [files, bytes, at] = [0, 0, 0];
  let shown = false;
  return {
    show: (file, n) => {
      files++;
      bytes += n;
      const now = Date.now();
      if (!on || now - at < EVERY_MS) return;
      at = now;
      shown = true;
      passing(`${files} files, ${size(bytes)}: ${file.slice(0, 60)}`);
    },
    clear: () => void (shown && passing(undefined)),
  };
}
