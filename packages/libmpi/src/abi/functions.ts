/**
 * All functions that mpi.h declares, as data: the header, the import names and the coverage page are made of it.
 *
 * Notation of a prototype: the name without MPI_; the result type is int unless it stands before. In a type, `N` is
 * int, and MPI_Count in the large form (`_c`) of the function; `A` is MPI_Aint, and MPI_Count there; `D` is int, and
 * MPI_Aint there; a type that ends in `#` gets `_c` there. A function with one of these marks has a large form. A line
 * that is indented goes on with the prototype before it.
 */
import { COMMUNICATION } from './prototypes-communication.ts';
import { OBJECTS } from './prototypes-objects.ts';
import { OUTSIDE } from './prototypes-outside.ts';

export interface CFunction {
  /** With MPI_. */
  readonly name: string;
  readonly result: string;
  readonly parameters: readonly string[];
  readonly chapter: string;
  /** The function of which this is the large form. */
  readonly largeOf: string | undefined;
}

const MARK = /\b[NAD]\b|#/;
const SMALL: Readonly<Record<string, string>> = { N: 'int', A: 'MPI_Aint', D: 'int', '#': '' };
const LARGE: Readonly<Record<string, string>> = { N: 'MPI_Count', A: 'MPI_Count', D: 'MPI_Aint', '#': '_c' };

function parse(chapter: string, line: string): CFunction[] {
  const m = /^(?:(\w+) )?(\w+)\((.*)\)$/.exec(line);
  if (!m) throw new Error(`not a prototype: ${line}`);
  const [, result = 'int', short, list] = m;
  const forms = (marks: Readonly<Record<string, string>>): string[] =>
    list === '' ? [] : list!.split(', ').map((p) => p.replace(MARK, (x) => marks[x]!));
  const name = `MPI_${short!}`;
  const base: CFunction = { name, result, parameters: forms(SMALL), chapter, largeOf: undefined };
  return MARK.test(list!) ? [base, { ...base, name: `${name}_c`, parameters: forms(LARGE), largeOf: name }] : [base];
}

/** In the order of the header. */
export const FUNCTIONS: readonly CFunction[] = [...COMMUNICATION, ...OBJECTS, ...OUTSIDE].flatMap(([chapter, text]) =>
  text
    .trim()
    .split(/\n(?! )/)
    .flatMap((line) => parse(chapter, line.replace(/\s*\n\s*/g, ' '))),
);
