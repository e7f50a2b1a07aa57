/**
 * The command line `mayfly`, but for the compiler drivers (mayfly.ts). Each command resolves to its exit code; what
 * they take is said in the folder command-line, what they do in commands.
 */
import { ApiFailure } from '@mayfly/client';
import { Command } from 'commander';
import { completionCommand } from './command-line/completion.ts';
import { jobCommands, pauseCommands } from './command-line/jobs.ts';
import { mpiexecCommand, submitCommand } from './command-line/mpiexec.ts';
import { programCommands } from './command-line/programs.ts';
import { clusterCommands, dataCommands, loginCommands, serverCommand, tokenCommands } from './command-line/server.ts';
import { volunteerCommand } from './command-line/volunteer.ts';
import { CommandError, Exit, EXIT_HELP } from './exit-codes.ts';
import { translate } from './mpiexec-words.ts';
import { VERSION } from './version.ts';
import type { Act } from './command-line/options.ts';

/** A command is loaded when it is called: `mayfly jobs` needs no server, and `--help` nothing at all. */
function commands(begin: (running: Command) => void, done: (code: number) => void): Command {
  const program = new Command('mayfly')
    .description('Real MPI programs on volatile browser tabs')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .addHelpText('after', EXIT_HELP)
    .exitOverride();
  const act: Act =
    (work) =>
    async (...args) => {
      // Commander's last argument.
      begin(args.at(-1) as Command);
      done(await work(...args));
    };
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
  // A value of --browser stands behind '=': the word after it is the server.
  if (argv[0] === 'volunteer') return argv.map((a) => (a === '--browser' ? '--browser=' : a));
  if (argv[0] !== 'mpiexec' && argv[0] !== 'mpirun' && argv[0] !== 'submit') return argv;
  const { argv: own, ignored } = translate(argv.slice(1), process.env, argv[0]);
  if (own[0] === '--version') return ['--version'];
  if (ignored.length > 0 && !own.includes('-q') && !own.includes('--quiet'))
    process.stderr.write(`mayfly: ignored, because volunteers provide the slots: ${ignored.join(', ')}\n`);
  return [argv[0], ...own];
}

/** An error leads to the help of the command that it is about. */
function nameHelp(command: Command, name: string): Command {
  command.showHelpAfterError(`(${name} --help lists the options)`);
  for (const inner of command.commands) nameHelp(inner, `${name} ${inner.name()}`);
  return command;
}

const pathOf = (command: Command | null | undefined): string =>
  command ? `${command.parent ? `${pathOf(command.parent)} ` : ''}${command.name()}` : 'mayfly';

async function main(): Promise<number> {
  let code: number = Exit.OK;
  let running: Command | undefined;
  try {
    await nameHelp(
      commands(
        (c) => (running = c),
        (c) => (code = c),
      ),
      'mayfly',
    ).parseAsync(habits(process.argv.slice(2)), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommandError) {
      // Commander says so for the mistakes that it finds.
      const hint = error.message.startsWith('--') ? `\n(${pathOf(running)} --help lists the options)` : '';
      process.stderr.write(`mayfly: ${error.message}${hint}\n`);
      return error.exitCode;
    }
    if (error instanceof ApiFailure) {
      const places = error.diagnostics.map((d) => `\n  ${d.file}:${d.line}:${d.column} ${d.code}: ${d.message}`);
      process.stderr.write(`mayfly: ${error.message} (${error.code})${places.join('')}\n`);
      return error.status === 401 || error.status === 403
        ? Exit.NO_PERMISSION
        : error.status === 422 || error.status === 400
          ? Exit.USAGE
          : Exit.FAILED;
    }
    // Commander has printed its own message.
    if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.'))
      return error.exitCode === 0 ? 0 : Exit.USAGE;
    const e = error as { code?: unknown; message?: string; stack?: string };
    process.stderr.write(`mayfly: ${e.message ?? String(error)}${typeof e.code === 'string' ? ` (${e.code})` : ''}\n`);
    if (process.env.MAYFLY_DEBUG) process.stderr.write(`${e.stack}\n`);
    return Exit.FAILED;
  }
}

// A reader that left (`mayfly … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
});
const code = await main();
// Output to a pipe is written behind: let it out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
