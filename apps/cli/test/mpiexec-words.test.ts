import { expect, test } from 'vitest';
import { CommandError } from '../src/exit-codes.ts';
import { bytes, translate } from '../src/mpiexec-words.ts';

const words = (line: string): ReturnType<typeof translate> => translate(line.split(' '), { HOME: '/home/me', A: '1' });

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
  expect(words('-f -hostfile -n 1 a.c -x nothing').argv).toEqual('-f -hostfile -n 1 a.c -x nothing'.split(' '));
});

test('what cannot be done is an error that says so', () => {
  // "-genv" is for all programs, wherever it stands.
  expect(() => words('-n 1 ./a : -n 1 -genv B 2 ./b')).toThrow(/-genv is for all programs/);
  expect(() => words('-n 1 -x NOT_SET ./a')).toThrow(/environment variable NOT_SET is not set/);
  expect(() => words('-n 1 -env A')).toThrow(CommandError);
  // An error leads to the help of its command.
  for (const line of ['-n 1 ./a : -x NOT_SET -n 1 ./b', '-n 1 -x NOT_SET ./a', '-n 1 -env A'])
    expect(() => translate(line.split(' '), {}, 'submit')).toThrow('(mayfly submit --help lists the options)');
});

test('behind each colon the options of another program begin', () => {
  expect(words('-np 1 -x A ./a -np 2 : -np 3 -env B 2 -x A -host h ./b -x A : ./c')).toEqual({
    argv: '-n 1 --env A=1 ./a -np 2 : -n 3 --part-env B=2 --env A=1 ./b -x A : ./c'.split(' '),
    ignored: ['-host h'],
  });
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
