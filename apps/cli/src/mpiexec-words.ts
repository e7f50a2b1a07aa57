/**
 * The words that people type after `mpiexec` from habit, of MPICH, Open MPI and Slurm, as ours. What places processes
 * on certain hosts and cores has no meaning where volunteers bring the slots: it is left out, and one line says so.
 */
import { CommandError, Exit } from './exit-codes.ts';
import { splitWords } from './shell-words.ts';

/** Our own options with a value, which is not the program's name. */
const VALUED = new Set(
  (
    '-n --np --file -o --output-dir --name --about --cc-flags --protocol --durability --checkpoint --grace ' +
    '--stuck-after --stuck-factor --time-limit --server --token --env --part-env --room --notify --memory --seed ' +
    '--stdin --team --clusters --parity --whole-every --ft-comm --ft-msg --ft-wait --map-by --outfile-pattern ' +
    '--errfile-pattern --output-filename'
  ).split(' '),
);
/** And those without. */
const FLAGS = new Set(
  '-q --quiet -l --label -h --help -V --version --insecure --local --detach --no-stdin --timestamp-output'.split(' '),
);
const SAME: Readonly<Record<string, string>> = {
  '-np': '-n',
  '-c': '-n',
  '-prepend-rank': '-l',
  '--prepend-rank': '-l',
  '-tag-output': '-l',
  '--tag-output': '-l',
  '-timeout': '--time-limit',
  '--timeout': '--time-limit',
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
    'oversubscribe nooversubscribe nolocal allow-run-as-root use-hwthread-cpus bycore pernode ' +
    'display-map display-allocation report-bindings genvall envall genvnone envnone'
  )
    .split(' ')
    .map((n) => [n, 0] as const),
  ...(
    'f hostfile machinefile machine default-hostfile hosts hostlist host H ppn perhost npernode npersocket N ' +
    'bind-to bind-to-core map-by rank-by membind rankfile rf cpu-set cpus-per-rank cpus-per-proc iface launcher ' +
    'launcher-exec rmk localhost prefix wdir wd path'
  )
    .split(' ')
    .map((n) => [n, 1] as const),
  ['mca', 2],
]);
/** What people may have meant. */
const HINTS: Readonly<Record<string, string>> = { f: " (MPICH's file of hosts; input files are given with --file)" };

/** MPICH takes its long options with one dash as well as with two. */
function ownOption(option: string): string {
  const same = SAME[option];
  if (same !== undefined) return same;
  const long = option.replace(/^-(?=[^-])/, '--');
  return VALUED.has(long) || FLAGS.has(long) ? long : option;
}
/** One dash and several letters, which are no short options of ours as -n4 and -ql are. */
const isWord = (option: string): boolean => /^-[^-]./.test(option) && !/^-(?:n\d+|[ql]+)$/.test(option);

export interface Words {
  /** For our own options. */
  readonly argv: string[];
  /** What was left out, as it was typed. */
  readonly ignored: string[];
}

/** What words may refer to. */
export interface Surroundings {
  /** For `-x NAME` and MPIEXEC_TIMEOUT. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** For `-configfile`. @throws Error when the file cannot be read */
  readText(path: string): string;
}

/**
 * @param argv what stands behind `mpiexec`
 * @param command whose help an error names
 * @param part of several programs, between which a ':' stands: which one `argv` begins with
 * @throws CommandError
 */
export function translate(argv: readonly string[], around: Surroundings, command = 'mpiexec', part = 0): Words {
  const out: string[] = [];
  const ignored: string[] = [];
  const wrong = (text: string): CommandError =>
    new CommandError(`${command}: ${text}\n(mayfly ${command} --help lists the options)`, Exit.USAGE);
  const variable = (option: string, name: string): void => {
    const value = around.environment[name];
    if (value === undefined) throw wrong(`the environment variable ${name} is not set`);
    out.push(option, `${name}=${value}`);
  };
  /** -env is of one program, -genv of all. */
  const scope = (option: string): string => {
    if (option.startsWith('e')) return '--part-env';
    if (part > 0) throw wrong(`-${option} is for all programs: put it before the first one`);
    return '--env';
  };
  /** Intel's -s and Open MPI's --stdin: which ranks have the standard input. */
  const input = (option: string, ranks: string): void => {
    if (ranks === '0') return;
    if (ranks !== 'none' || command === 'submit')
      throw wrong(`${option} ${ranks}: only rank 0 has the standard input. Files are for all ranks: --file`);
    out.push('--no-stdin');
  };
  let i = 0;
  for (; i < argv.length && argv[i]!.startsWith('-') && argv[i] !== '--'; i++) {
    const typed = argv[i]!;
    const [option, within] = typed.split(/=(.*)/s) as [string, string?];
    /** The values of the option, the last of which stands at `i` then. */
    const values = (n: number): string[] => {
      if (within !== undefined && n > 0) return [within];
      const found = argv.slice(i + 1, i + 1 + n);
      if (found.length < n) throw wrong(`${option} needs ${n === 1 ? 'a value' : `${n} values`}`);
      i += n;
      return found;
    };
    const bare = option.replace(/^--?/, '');
    const own = ownOption(option);
    if (bare === 'configfile') {
      const before = argv.slice(0, i);
      const [path] = values(1) as [string];
      if (i + 1 < argv.length) throw wrong(`${option} ${path} lists all programs: nothing may stand behind it`);
      return translate(
        [...before, ...programsOf(path, around, wrong)],
        { ...around, readText: onlyOne },
        command,
        part,
      );
    }
    if (bare === 's' || (bare === 'stdin' && command !== 'submit')) input(option, values(1)[0]!);
    else if (option === '-env' || bare === 'genv') out.push(scope(bare), values(2).join('='));
    else if (bare === 'x') {
      const [name] = values(1) as [string];
      if (name.includes('=')) out.push('--env', name);
      else variable('--env', name);
    } else if (bare === 'genvlist' || bare === 'envlist')
      for (const name of values(1)[0]!.split(',').filter(Boolean)) variable(scope(bare), name);
    else if (PLACING.has(bare)) {
      const found = values(PLACING.get(bare)!);
      if (bare === 'map-by' && (found[0] === 'slot' || found[0] === 'node')) out.push('--map-by', found[0]);
      else ignored.push((within === undefined ? [option, ...found].join(' ') : typed) + (HINTS[bare] ?? ''));
    } else if (VALUED.has(own)) out.push(own, ...values(1));
    else if (isWord(own)) throw wrong(`unknown option ${option}`);
    else out.push(within === undefined ? own : typed);
  }
  if (part === 0 && command !== 'submit' && !out.includes('--time-limit')) out.push(...timeout(around, wrong));
  const rest = argv.slice(i);
  const colon = rest.indexOf(':');
  if (colon < 0) return { argv: [...out, ...rest], ignored };
  const behind = translate(rest.slice(colon + 1), around, command, part + 1);
  return {
    argv: [...out, ...rest.slice(0, colon + 1), ...behind.argv],
    ignored: [...ignored, ...behind.ignored],
  };
}

/** A program with its options and arguments on each line; '#' begins a line of comment, '\' at the end goes on. */
function programsOf(path: string, around: Surroundings, wrong: (text: string) => CommandError): string[] {
  let text: string;
  try {
    text = around.readText(path);
  } catch (error) {
    throw wrong(`-configfile ${path}: ${(error as Error).message}`);
  }
  const lines = text
    .replace(/\\\r?\n/g, ' ')
    .split('\n')
    .filter((line) => /^\s*[^\s#]/.test(line));
  if (lines.length === 0) throw wrong(`-configfile ${path}: no line has a program`);
  return lines.flatMap((line, n) => {
    const words = splitWords(line);
    if (words === undefined) throw wrong(`-configfile ${path}: a quote is open in the line ${line.trim()}`);
    return n === 0 ? words : [':', ...words];
  });
}
const onlyOne = (): never => {
  throw new Error('a file of -configfile cannot name another one');
};

/** MPIEXEC_TIMEOUT, of MPICH and Open MPI: seconds; 0 and -1: no limit. */
function timeout({ environment }: Surroundings, wrong: (text: string) => CommandError): string[] {
  const text = environment.MPIEXEC_TIMEOUT ?? '';
  if (['', '0', '-1'].includes(text)) return [];
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw wrong(`MPIEXEC_TIMEOUT is ${text}: expected a number of seconds`);
  return ['--time-limit', text];
}

/** '512M', '2G', or a number of bytes. */
export function bytes(text: string): number | undefined {
  const m = /^(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?$/i.exec(text);
  if (m === null) return undefined;
  return Math.round(Number(m[1]) * 1024 ** ['', 'K', 'M', 'G', 'T'].indexOf(m[2]!.toUpperCase()));
}
