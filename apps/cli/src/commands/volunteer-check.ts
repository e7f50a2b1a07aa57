/**
 * What stands between the programs of others and this machine: `mayfly volunteer --check` tries it, `mayfly volunteer`
 * names it when it starts. Exit code of the check: 0 when no attempt from inside got through, 1 when one did or nothing
 * stands there.
 */
import {
  ATTEMPTS,
  checkSandbox,
  workerFolder,
  type Check,
  type Sandbox,
  type SandboxChoice,
} from '@mayfly/node/headless';
import { CommandError, Exit } from '../exit-codes.ts';
import { table } from '../table.ts';
import { VOLUNTEER } from '../version.ts';
import { say } from '../terminal.ts';

export const NO_URL = `the URL of the server is missing (${VOLUNTEER} --help)`;

export interface SandboxOptions {
  sandbox?: SandboxChoice;
  nice?: number;
}

/** For one line at the start. */
export function protection(sandbox: Sandbox | undefined): string {
  if (!sandbox) return 'jobs run in this process (--sandbox none): their programs can do anything that you can do';
  if (sandbox.layers.kind === 'bwrap')
    return (
      "each job runs in a process of its own, behind bubblewrap, a filter of system calls and Node's " +
      'permission model'
    );
  return (
    `each job runs in a process of its own, behind Node's permission model; '${VOLUNTEER} --check' lists ` +
    'better protection'
  );
}

export async function volunteerCheck({ sandbox = 'auto', nice }: SandboxOptions): Promise<number> {
  let check: Check;
  try {
    check = await checkSandbox(sandbox, workerFolder(), nice);
  } catch (e) {
    throw new CommandError((e as Error).message, Exit.FAILED);
  }
  say(`${shown(check)}`);
  return check.tight ? Exit.OK : Exit.FAILED;
}

function shown(check: Check): string {
  const lines = [`Here ${protection(check.sandbox)}.`];
  if (check.layers.length > 0)
    lines.push(
      '',
      table([['LAYER', 'THERE', 'TRIED'], ...check.layers.map((l) => [l.name, l.there ? 'yes' : 'no', l.found])]),
    );
  if (check.attempts) {
    const { attempts } = check;
    lines.push('', 'What a program could do if it took over its thread, with all layers active:', '');
    lines.push(
      table([
        ['ATTEMPT', 'RESULT'],
        ...ATTEMPTS.map((name) => [name, attempts[name] === null ? 'GOT THROUGH' : `denied (${attempts[name]})`]),
      ]),
    );
  }
  if (check.advice.length > 0) lines.push('', 'To get more:', ...check.advice.map((a) => `  * ${a}`));
  lines.push(
    '',
    check.tight ? 'Nothing got through.' : check.attempts ? 'Some attempts succeeded.' : 'Nothing was tried.',
  );
  return lines.join('\n');
}
