/** How a command line runs: an error becomes a sentence, a hint and an exit code. */
import { ApiFailure } from '@mayfly/client';
import type { Command } from 'commander';
import type { Act } from './command-line/options.ts';
import { CommandError, Exit } from './exit-codes.ts';

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

/** Ends the process. What `words` throws is an error of the command line as well. */
export async function runCommandLine(commands: (act: Act) => Command, words: () => string[]): Promise<void> {
  // A reader that left (`mayfly … | head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
  const code = await exitCodeOf(commands, words);
  // Output to a pipe is written behind: let it out first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}
