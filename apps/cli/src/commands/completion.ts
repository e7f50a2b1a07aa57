/** `mayfly completion bash`: the commands and their options, as a function of the shell. */
import type { Command } from 'commander';
import { Exit } from '../exit-codes.ts';
import { say } from '../terminal.ts';

export async function completion(shell: 'bash' | 'zsh', program: Command): Promise<number> {
  say(script(shell, program).trimEnd());
  return Exit.OK;
}

const optionsOf = (c: Command): string =>
  [...c.options.flatMap((o) => [o.short, o.long]), '--help'].filter((o) => o !== undefined).join(' ');
const namesOf = (c: Command): string[] => [
  ...c.commands.flatMap((inner) => [inner.name(), ...inner.aliases()]),
  ...c.registeredArguments.flatMap((a) => a.argChoices ?? []),
];
/** What may stand behind an option, where the option says so. */
const valuesOf = (c: Command, path: string): string[] =>
  c.options.flatMap((o) =>
    o.argChoices === undefined
      ? []
      : [o.short, o.long]
          .filter((name) => name !== undefined)
          .map((name) => `    '${path} ${name}') commands='${o.argChoices!.join(' ')}' ;;`),
  );

/** zsh reads the same function, through its own bashcompinit. */
function script(shell: 'bash' | 'zsh', program: Command): string {
  const steps: string[] = [];
  const words: string[] = [];
  const values: string[] = [];
  const walk = (c: Command, path: string): void => {
    words.push(`    '${path}') commands='${namesOf(c).join(' ')}' options='${optionsOf(c)}' ;;`);
    values.push(...valuesOf(c, path));
    for (const inner of c.commands)
      for (const name of [inner.name(), ...inner.aliases()]) {
        steps.push(`      '${path} ${name}') path='${path} ${name}' ;;`);
        walk(inner, `${path} ${name}`);
      }
  };
  walk(program, '');
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_mayfly() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path='' commands='' options='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
${steps.join('\n')}
    esac
  done
  case "$path" in
${words.join('\n')}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('\n')}
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else COMPREPLY=($(compgen -W "$commands" -- "$cur")); fi
}
complete -o default -F _mayfly mayfly
`;
}
