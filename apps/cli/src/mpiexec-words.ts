/**
 * The words that people type after `mpiexec` from habit, of MPICH, Open MPI and Slurm, as ours. What places processes
 * on certain hosts and cores has no meaning where volunteers bring the slots: it is left out, and one line says so.
 */
import { CommandError, Exit } from './exit-codes.ts';

/** Our own options with a value, which is not the program's name. */
const VALUED = new Set(
  (
    '-n --np -f --file -o --output-dir --name --about --cc-flags --protocol --durability --checkpoint --grace ' +
    '--stuck-after --stuck-factor --time-limit --server --token --env --part-env --room --notify --memory --seed ' +
    '--stdin --team --parity --whole-every --ft-comm --ft-msg --ft-wait --outfile-pattern --errfile-pattern'
  ).split(' '),
);
const SAME: Readonly<Record<string, string>> = {
  '-np': '-n',
  '-c': '-n',
  '-prepend-rank': '-l',
  '--prepend-rank': '-l',
  '-tag-output': '-l',
  '--tag-output': '-l',
  '-outfile-pattern': '--outfile-pattern',
  '-errfile-pattern': '--errfile-pattern',
  '-bynode': '--map-by=node',
  '--bynode': '--map-by=node',
  '-byslot': '--map-by=slot',
  '--byslot': '--map-by=slot',
  '-version': '--version',
  '-V': '--version',
};
/** Options of others that are left out, by the number of their values. */
const PLACING = new Map<string, number>([
  ...(
    'oversubscribe nooversubscribe allow-run-as-root use-hwthread-cpus bycore pernode ' +
    'display-map display-allocation report-bindings genvall envall genvnone envnone'
  )
    .split(' ')
    .map((n) => [n, 0] as const),
  ...(
    'hostfile machinefile machine default-hostfile hosts host H ppn perhost npernode npersocket N bind-to ' +
    'bind-to-core map-by rank-by iface launcher launcher-exec rmk prefix wdir wd path'
  )
    .split(' ')
    .map((n) => [n, 1] as const),
  ['mca', 2],
]);

export interface Words {
  /** For our own options. */
  readonly argv: string[];
  /** What was left out, as it was typed. */
  readonly ignored: string[];
}

/**
 * @param argv what stands behind `mpiexec`
 * @param environment for `-x NAME`
 * @param command whose help an error names
 * @param part of several programs, between which a ':' stands: which one `argv` begins with
 * @throws CommandError
 */
export function translate(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  command = 'mpiexec',
  part = 0,
): Words {
  const out: string[] = [];
  const ignored: string[] = [];
  const wrong = (text: string): CommandError =>
    new CommandError(`${command}: ${text}\n(mayfly ${command} --help lists the options)`, Exit.USAGE);
  const variable = (option: string, name: string): void => {
    const value = environment[name];
    if (value === undefined) throw wrong(`the environment variable ${name} is not set`);
    out.push(option, `${name}=${value}`);
  };
  /** -env is of one program, -genv of all. */
  const scope = (option: string): string => {
    if (option.startsWith('e')) return '--part-env';
    if (part > 0) throw wrong(`-${option} is for all programs: put it before the first one`);
    return '--env';
  };
  let i = 0;
  /** The values of the option at `i`, which is then the last of them. */
  const values = (n: number): string[] => {
    const option = argv[i]!;
    const found = argv.slice(i + 1, i + 1 + n);
    if (found.length < n) throw wrong(`${option} needs ${n === 1 ? 'a value' : `${n} values`}`);
    i += n;
    return found;
  };
  for (; i < argv.length && argv[i]!.startsWith('-') && argv[i] !== '--'; i++) {
    const option = argv[i]!;
    const bare = option.replace(/^--?/, '');
    const own = SAME[option] ?? option;
    if (VALUED.has(own)) out.push(own, ...values(1));
    else if (bare === 'env' || bare === 'genv') out.push(scope(bare), values(2).join('='));
    else if (bare === 'x') {
      const [name] = values(1) as [string];
      if (name.includes('=')) out.push('--env', name);
      else variable('--env', name);
    } else if (bare === 'genvlist' || bare === 'envlist')
      for (const name of values(1)[0]!.split(',').filter(Boolean)) variable(scope(bare), name);
    else if (PLACING.has(bare.replace(/=.*/, ''))) {
      const [name, value] = bare.split('=') as [string, string?];
      const found = value === undefined ? values(PLACING.get(name)!) : [];
      const how = value ?? found[0];
      if (name === 'map-by' && (how === 'slot' || how === 'node')) out.push('--map-by', how);
      else ignored.push([option, ...found].join(' '));
    } else out.push(own);
  }
  const rest = argv.slice(i);
  const colon = rest.indexOf(':');
  if (colon < 0) return { argv: [...out, ...rest], ignored };
  const behind = translate(rest.slice(colon + 1), environment, command, part + 1);
  return {
    argv: [...out, ...rest.slice(0, colon + 1), ...behind.argv],
    ignored: [...ignored, ...behind.ignored],
  };
}

/** '512M', '2G', or a number of bytes. */
export function bytes(text: string): number | undefined {
  const m = /^(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?$/i.exec(text);
  if (m === null) return undefined;
  return Math.round(Number(m[1]) * 1024 ** ['', 'K', 'M', 'G', 'T'].indexOf(m[2]!.toUpperCase()));
}
