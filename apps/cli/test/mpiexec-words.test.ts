import { Command } from 'commander';
import { expect, test } from 'vitest';
import { mpiexecCommand, submitCommand } from '../src/command-line/mpiexec.ts';
import { CommandError } from '../src/exit-codes.ts';
import { bytes, translate } from '../src/mpiexec-words.ts';

const around = {
  environment: { HOME: '/home/me', A: '1' },
  readText: (path: string): string => {
    if (path !== 'conf') throw new Error('no such file');
    return "# two programs\n\n-n 1 -env B '2 3' ./master \\\n  input\n -n 3 -host h ./worker # one\n";
  },
};
const words = (line: string): ReturnType<typeof translate> => translate(line.split(' '), around);

test('the habits of MPICH, Open MPI and Slurm', () => {
  expect(words('-np 4 ./a -np 5')).toEqual({ argv: ['-n', '4', './a', '-np', '5'], ignored: [] });
  expect(words('-genv OMP_NUM_THREADS 1 -env B 2=3 -x A -x C=4 -genvlist HOME,A -n 2 ./a').argv).toEqual(
    '--env OMP_NUM_THREADS=1 --part-env B=2=3 --env A=1 --env C=4 --env HOME=/home/me --env A=1 -n 2 ./a'.split(' '),
  );
  expect(
    words('--oversubscribe -hostfile my.hosts --map-by=core --mca btl self -n 2 --tag-output ./a --hostfile mine'),
  ).toEqual({
    argv: '-n 2 -l ./a --hostfile mine'.split(' '),
    ignored: ['--oversubscribe', '-hostfile my.hosts', '--map-by=core', '--mca btl self'],
  });
  expect(words('--ft-wait 5 ./a').argv).toEqual('--ft-wait 5 ./a'.split(' '));
  expect(words('--map-by=node --team 2 -n 4 ./a')).toEqual({
    argv: '--map-by node --team 2 -n 4 ./a'.split(' '),
    ignored: [],
  });
  expect(words('-outfile-pattern out.%r --errfile-pattern err.%r -n 4 ./a').argv).toEqual(
    '--outfile-pattern out.%r --errfile-pattern err.%r -n 4 ./a'.split(' '),
  );
  expect(words('--map-by slot -n 4 ./a').argv).toEqual('--map-by slot -n 4 ./a'.split(' '));
  expect(words('-bynode -n 4 ./a').argv).toEqual('--map-by=node -n 4 ./a'.split(' '));
  expect(words('-version').argv).toEqual(['--version']);
  expect(words('--stuck-after 5 -n 2 -hostfile mine ./a')).toEqual({
    argv: '--stuck-after 5 -n 2 ./a'.split(' '),
    ignored: ['-hostfile mine'],
  });
});

test('the value of an option is never the program, and what follows the program is its own', () => {
  expect(words('--name -x -n 1 -- -odd : b'.replace(' : b', ''))).toEqual({
    argv: '--name -x -n 1 -- -odd'.split(' '),
    ignored: [],
  });
  expect(words('--file -hostfile -n 1 a.c -x nothing').argv).toEqual('--file -hostfile -n 1 a.c -x nothing'.split(' '));
});

test('what cannot be done is an error that says so', () => {
  // "-genv" is for all programs, wherever it stands.
  expect(() => words('-n 1 ./a : -n 1 -genv B 2 ./b')).toThrow(/-genv is for all programs/);
  expect(() => words('-n 1 -x NOT_SET ./a')).toThrow(/environment variable NOT_SET is not set/);
  expect(() => words('-n 1 -env A')).toThrow(CommandError);
  // An error leads to the help of its command.
  for (const line of ['-n 1 ./a : -x NOT_SET -n 1 ./b', '-n 1 -x NOT_SET ./a', '-n 1 -env A'])
    expect(() => translate(line.split(' '), { ...around, environment: {} }, 'submit')).toThrow(
      '(mayfly submit --help lists the options)',
    );
});

test('behind each colon the options of another program begin', () => {
  expect(words('-np 1 -x A ./a -np 2 : -np 3 -env B 2 -x A -host h ./b -x A : ./c')).toEqual({
    argv: '-n 1 --env A=1 ./a -np 2 : -n 3 --part-env B=2 --env A=1 ./b -x A : ./c'.split(' '),
    ignored: ['-host h'],
  });
});

test('-f is the file of hosts of MPICH, and one line says what input files are given with', () => {
  expect(words('-f hosts -n 2 ./a')).toEqual({
    argv: '-n 2 ./a'.split(' '),
    ignored: ["-f hosts (MPICH's file of hosts; input files are given with --file)"],
  });
});

test('an unknown option is named, wherever it stands', () => {
  expect(() => words('-nosuch -n 2 ./a')).toThrow('mpiexec: unknown option -nosuch');
  expect(() => words('-n 2 -launchr ssh ./a')).toThrow('unknown option -launchr');
  // With one dash as with two: MPICH makes no difference.
  expect(words('-name x -quiet --np=3 -n4 -ql ./a').argv).toEqual('--name x --quiet --np 3 -n4 -ql ./a'.split(' '));
});

test('a limit of the time: --timeout, MPIEXEC_TIMEOUT', () => {
  const within = (line: string, limit: string, command?: string): string[] =>
    translate(line.split(' '), { ...around, environment: { MPIEXEC_TIMEOUT: limit } }, command).argv;
  expect(words('--timeout 5 -n 2 ./a').argv).toEqual('--time-limit 5 -n 2 ./a'.split(' '));
  expect(within('-n 2 ./a : ./b', '90')).toEqual('-n 2 --time-limit 90 ./a : ./b'.split(' '));
  expect(within('-timeout=5 ./a', '90')).toEqual('--time-limit 5 ./a'.split(' '));
  for (const none of ['0', '-1', '']) expect(within('./a', none)).toEqual(['./a']);
  expect(within('./a', '90', 'submit')).toEqual(['./a']);
  expect(() => within('./a', 'soon')).toThrow('MPIEXEC_TIMEOUT is soon: expected a number of seconds');
});

test('which rank has the standard input', () => {
  expect(words('-s 0 --stdin 0 ./a').argv).toEqual(['./a']);
  expect(words('-s none ./a').argv).toEqual(['--no-stdin', './a']);
  expect(() => words('-s all ./a')).toThrow('-s all: only rank 0 has the standard input');
  expect(translate(['--stdin', 'in.txt', './a'], around, 'submit').argv).toEqual(['--stdin', 'in.txt', './a']);
});

test('-configfile has a program on each line', () => {
  expect(words('-l -configfile conf')).toEqual({
    argv: ['-l', '-n', '1', '--part-env', 'B=2 3', './master', 'input', ':', '-n', '3', './worker', '#', 'one'],
    ignored: ['-host h'],
  });
  expect(() => words('-configfile conf ./a')).toThrow('-configfile conf lists all programs');
  expect(() => words('-configfile nowhere')).toThrow('-configfile nowhere: no such file');
  const own = { ...around, readText: () => '-configfile conf' };
  expect(() => translate(['-configfile', 'conf'], own)).toThrow('cannot name another one');
  expect(() => translate(['-configfile', 'conf'], { ...around, readText: () => '# none' })).toThrow('no line has');
});

test('every option of mpiexec and submit is known here, with or without a value', () => {
  const program = new Command().enablePositionalOptions();
  const act = () => async (): Promise<void> => undefined;
  mpiexecCommand(program, act);
  submitCommand(program, act);
  for (const command of program.commands)
    for (const { short, long, required, optional } of command.options)
      for (const option of [short, long].filter((o) => o !== undefined)) {
        const value = required || optional ? ['node'] : [];
        const { argv, ignored } = translate([option, ...value, '-n', '1', '-x', 'A', './a'], around, command.name());
        expect([argv, ignored], option).toEqual([[option, ...value, '-n', '1', '--env', 'A=1', './a'], []]);
      }
});

test('sizes', () => {
  expect(['512M', '2G', '1.5GiB', '100', '4kb', 'abc', ''].map(bytes)).toEqual([
    2 ** 29,
    2 ** 31,
    1.5 * 2 ** 30,
    100,
    4096,
    undefined,
    undefined,
  ]);
});
