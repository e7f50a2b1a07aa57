/** The command that offers a machine as a node. */
import { Option, type Command } from 'commander';
import { whole, type Act } from './options.ts';
import type { BrowserVolunteerOptions } from '../commands/volunteer-browser.ts';
import type { VolunteerOptions } from '../commands/volunteer.ts';

const VOLUNTEER_HELP = `
A headless volunteer runs jobs in C and C++ only. Such a program is a module of WebAssembly: it can call only the functions of
MPI and of its standard library that Mayfly gives it. A program in TypeScript is JavaScript that Node runs, with globals removed,
and Node does not call that a sandbox. A program that finds a way past them is Node code in the job's process: only what this machine puts
around that process (--check shows it) still holds it. Where that is Node's permission model alone, expect such a program to open
connections, and a determined one to act as this user. With --allow-typescript you accept that risk from everyone who can submit jobs.

With --browser, programs run in the sandbox of a browser, the strongest one available, and TypeScript is allowed as well. The browser gets
a temporary profile, which is deleted at the end.`;

export function volunteerCommand(program: Command, act: Act): void {
  describeVolunteer(program.command('volunteer'), act);
}

/** For a command of any name: it is also the whole command line of the package @mayfly/volunteer. */
export function describeVolunteer(command: Command, act: Act): void {
  command
    .description('offer this machine as a node, without a window')
    .argument('[url]', 'the server')
    .option('-s, --slots <n>', 'number of ranks to run at the same time (default: cores − 1)', whole(1, 256))
    .option('--name <name>', 'name of the node (default: host name)')
    .option('--room <code>', 'join code of the room')
    .option(
      '--allow-typescript',
      'also run jobs in TypeScript. Only for jobs of people whom you trust with this machine: see below',
    )
    .option(
      '--browser [path]',
      "run the server's volunteer page in an installed Chrome, Chromium, Edge or Firefox without a window; " +
        '=path or =name selects one',
    )
    .option('--no-browser-sandbox', 'with --browser: use Chromium also where it has no sandbox (as root)')
    .option('--insecure', 'accept a self-signed certificate of the server')
    .addOption(
      new Option(
        '--sandbox <kind>',
        "isolation of jobs: bubblewrap (Linux), a process with Node's permission model, or none",
      )
        .choices(['auto', 'bwrap', 'process', 'none'])
        .default('auto'),
    )
    .option('--nice <n>', 'how much jobs yield to other programs of this machine', whole(0, 19), 10)
    .option('--check', 'test the protection of this machine, and list what to install for more; needs no server')
    .addHelpText('after', VOLUNTEER_HELP)
    .action(
      act(
        async (
          url: string | undefined,
          { browser, ...o }: VolunteerOptions & BrowserVolunteerOptions & { browser?: string },
        ) =>
          browser === undefined || o.check
            ? (await import('../commands/volunteer.ts')).volunteer(url, o)
            : (await import('../commands/volunteer-browser.ts')).browserVolunteer(url, browser, o),
      ),
    );
}

/** A value of --browser stands behind '=': the word after it is the server. */
export const browserValue = (argv: readonly string[]): string[] =>
  argv.map((a) => (a === '--browser' ? '--browser=' : a));
