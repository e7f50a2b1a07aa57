/** `mayfly completion`: what a shell offers behind `mayfly` when somebody presses Tab. */
import { Argument, type Command } from 'commander';
import type { Act } from './options.ts';

export function completionCommand(program: Command, act: Act): void {
  program
    .command('completion')
    .description('print the completion for a shell: add `eval "$(mayfly completion bash)"` to ~/.bashrc')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .action(
      act(async (shell: string) => (await import('../commands/completion.ts')).completion(shell as 'bash', program)),
    );
}
