/**
 * Several programs in one MPI_COMM_WORLD (MPMD, MPI-4.1 §11.5): `-n 2 ./a x : -n 1 ./b y`. What stands before the first
 * program is for the whole job, but for the number of ranks and what belongs to that program; behind a ':' only such
 * options may stand.
 */
import { MAX_PARTS, MAX_RANKS, type JobView } from '@mayfly/wire';
import { CommandError, Exit } from './exit-codes.ts';
import { wholeNumber } from './whole-number.ts';

/** 'a.c 5', or '2 × a.c 5 : 1 × b.c'. */
export function programLine({ program, args, parts }: Pick<JobView, 'program' | 'args' | 'parts'>): string {
  if (!parts) return [program.entry, ...args].join(' ');
  return parts.map((p) => `${p.size} × ${[p.program.entry, ...p.args].join(' ')}`).join(' : ');
}

/** A program behind a ':'. */
export interface FurtherWords {
  readonly program: string;
  readonly args: string[];
  readonly n: number;
  /** NAME=VALUE, of its ranks only. */
  readonly env: string[];
  readonly ccFlags: string | undefined;
}

/** @param words what stands behind the first program @throws CommandError */
export function splitPrograms(words: readonly string[]): { args: string[]; further: FurtherWords[] } {
  const parts: string[][] = [[]];
  for (const word of words)
    if (word === ':') parts.push([]);
    else parts.at(-1)!.push(word);
  const [args, ...behind] = parts as [string[], ...string[][]];
  if (parts.length > MAX_PARTS)
    throw new CommandError(`a job has at most ${MAX_PARTS} programs; here are ${parts.length}`, Exit.USAGE);
  return { args, further: behind.map((part, n) => readPart(part, n + 2)) };
}

function readPart(words: readonly string[], number: number): FurtherWords {
  const wrong = (text: string): CommandError => new CommandError(`program ${number}, behind ':': ${text}`, Exit.USAGE);
  const env: string[] = [];
  let n: number | undefined = 1;
  let ccFlags: string | undefined;
  let i = 0;
  for (; i < words.length && words[i]!.startsWith('-') && words[i] !== '--'; i++) {
    const [option, within] = words[i]!.split(/(?<=^--[^=]+)=(.*)/s) as [string, string | undefined];
    const value = (): string => {
      const text = within ?? words[++i];
      if (text === undefined) throw wrong(`${option} needs a value`);
      return text;
    };
    if (option === '-n' || option === '--np') {
      const text = value();
      n = wholeNumber(text, 1, MAX_RANKS);
      if (n === undefined) throw wrong(`${option} ${text}: expected a whole number from 1 to ${MAX_RANKS}`);
    } else if (option === '--env' || option === '--part-env') env.push(value());
    else if (option === '--cc-flags') ccFlags = value();
    else
      throw wrong(
        `${option} is unknown here. Here -n, -env, -x and --cc-flags may stand; options of the whole job stand before ` +
          'the first program',
      );
  }
  const [program, ...args] = words.slice(words[i] === '--' ? i + 1 : i);
  if (program === undefined) throw wrong('the program is missing');
  return { program, args, n, env, ccFlags };
}
