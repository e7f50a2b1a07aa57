/**
 * The command line `mayfly`, but for the compiler drivers (mayfly.ts). Each command resolves to its exit code; what
 * they take is said in the folder command-line, what they do in commands.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { completionCommand } from './command-line/completion.ts';
import { jobCommands, pauseCommands } from './command-line/jobs.ts';
import { mpiexecCommand, submitCommand } from './command-line/mpiexec.ts';
import { programCommands } from './command-line/programs.ts';
import {
  clusterCommands,
  dataCommands,
  loginCommands,
  quotaCommands,
  serverCommand,
  tokenCommands,
} from './command-line/server.ts';
import { browserValue, volunteerCommand } from './command-line/volunteer.ts';
import { EXIT_HELP } from './exit-codes.ts';
import { translate } from './mpiexec-words.ts';
import { runCommandLine } from './run-command-line.ts';
import { VERSION } from './version.ts';
import type { Act } from './command-line/options.ts';
import { warn } from './terminal.ts';

/** A command is loaded when it is called: `mayfly jobs` needs no server, and `--help` nothing at all. */
function commands(act: Act): Command {
  const program = new Command('mayfly')
    .description('Real MPI programs on volatile browser tabs')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .addHelpText('after', EXIT_HELP);
  // In the order of --help.
  for (const add of [
    mpiexecCommand,
    submitCommand,
    serverCommand,
    volunteerCommand,
    jobCommands,
    clusterCommands,
    loginCommands,
    tokenCommands,
    quotaCommands,
    pauseCommands,
    dataCommands,
    programCommands,
    completionCommand,
  ])
    add(program, act);
  return program;
}

/** Words after `mpiexec` that come from other implementations; `--browser` without a value. */
function habits(argv: string[]): string[] {
  if (argv[0] === 'volunteer') return browserValue(argv);
  if (argv[0] !== 'mpiexec' && argv[0] !== 'mpirun' && argv[0] !== 'submit') return argv;
  const around = { environment: process.env, readText: (path: string) => readFileSync(path, 'utf8') };
  const { argv: own, ignored } = translate(argv.slice(1), around, argv[0]);
  if (own[0] === '--version') return ['--version'];
  if (ignored.length > 0 && !own.includes('-q') && !own.includes('--quiet'))
    warn(`ignored, because volunteers provide the slots: ${ignored.join(', ')}`);
  return [argv[0], ...own];
}

await runCommandLine(commands, () => habits(process.argv.slice(2)));
