/** How a command line runs: an error becomes a sentence, a hint and an exit code. */
import { ApiFailure } from '@mayfly/rest/client';
import type { Command } from 'commander';
import type { Act } from './command-line/options.ts';
import { CommandError, Exit } from './exit-codes.ts';
import { warn, written } from './terminal.ts';

/** An error leads to the help of the command that it is about. */
function nameHelp(command: Command, name: string): Command {
  command.exitOverride().showHelpAfterError(`(${name} --help lists the options)`);
  for (const inner of command.commands) nameHelp(inner, `${name} ${inner.name()}`);
  return command;
}

const pathOf = (command: Command | null | undefined): string =>
  command ? `${command.parent ? `${pathOf(command.parent)} ` : ''}${command.name()}` : 'mayfly';

async function exitCodeOf(commands: (act: Act) => Command, words: () => string[]): Promise<number> {
  let code: number = Exit.OK;
  let running: Command | undefined;
  try {
    const program = commands((work) => async (...args) => {
      // Commander's last argument.
      running = args.at(-1) as Command;
      code = await work(...args);
    });
    await nameHelp(program, program.name()).parseAsync(words(), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommandError) {
      // Commander says so for the mistakes that it finds.
      const hint = error.message.startsWith('--') ? `\n(${pathOf(running)} --help lists the options)` : '';
      warn(`${error.message}${hint}`);
      return error.exitCode;
    }
    if (error instanceof ApiFailure) {
      const places = error.diagnostics.map((d) => `\n${d.file}:${d.line}:${d.column} ${d.code}: ${d.message}`);
      warn(`${error.message} (${error.code})${places.join('')}`);
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
    warn(`${e.message ?? String(error)}${typeof e.code === 'string' ? ` (${e.code})` : ''}`);
    if (process.env.MAYFLY_DEBUG) warn(e.stack ?? '');
    return Exit.FAILED;
  }
}

/** Ends the process. What `words` throws is an error of the command line as well. */
export async function runCommandLine(commands: (act: Act) => Command, words: () => string[]): Promise<void> {
  // A reader that left (`mayfly … | head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
  const code = await exitCodeOf(commands, words);
  written(() => process.exit(code));
}
