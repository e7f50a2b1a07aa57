/**
 * Places of programs, from where ranks wait: out of what nodes tell ('halo (wasm-function[21]:0x64b)') becomes what the
 * submitted sources say ('halo (main.c:5)'; without line numbers 'halo'). For people only.
 *
 * Owns what is needed for that of the programs that asked last.
 *  P1  Bounded whatever nodes say: at most MAX_PLACES places of a program, of the form that engines have, and
 *      MAX_PROGRAMS programs.
 *  P2  Nothing waits for a program to be read: until it is there, its places are not known.
 */
import { BUNDLE_NAME, stackMapper, symboliser } from '@mayfly/toolchain';
import { ELSEWHERE, type Heartbeat, type JobId, type TaskId } from '@mayfly/wire';
import type { JobStore, ProgramAt } from './job-store.ts';

const MAX_PROGRAMS = 32;
const MAX_PLACES = 256;
/** As a stack has it: the function (without control characters), and the number that a module gives it. */
const FORM = new RegExp(
  `^(?:([^\\p{C}]{1,90}) ` +
    `\\()?(?:wasm-function\\[(\\d{1,7})\\]:0x[0-9a-f]{1,8}|${BUNDLE_NAME.replaceAll('.', '\\.')}:\\d{1,8}:\\d{1,8})\\)?$`,
  'u',
);

interface Program {
  map: ((place: string) => string) | undefined;
  known: Map<string, string>;
}

export class Places {
  /** By job and part. */
  readonly #programs = new Map<string, Program>();

  /** `programOf`: the program that a task of a job runs; undefined: there is no such task. */
  constructor(
    private readonly store: Pick<JobStore, 'program' | 'sourceMap'>,
    private readonly programOf: (job: JobId, task: TaskId) => ProgramAt | undefined,
  ) {}

  /**
   * The same, with the places in the words of their sources; of ranks that are not the sender's, without. `isHere`: the
   * rank is the sender's.
   */
  inSources(m: Heartbeat, isHere: (t: Heartbeat['tasks'][number]) => boolean): Heartbeat {
    if (!m.tasks.some((t) => t.places !== undefined || t.activity.place !== undefined)) return m;
    const tasks = m.tasks.map((t) => {
      if (t.places === undefined && t.activity.place === undefined) return t;
      const {
        places,
        activity: { place, ...activity },
        ...rest
      } = t;
      if (!isHere(t)) return { ...rest, activity };
      const at = place === undefined ? undefined : this.of(t.job, t.task, place);
      return {
        ...rest,
        activity: at === undefined ? activity : { ...activity, place: at },
        places: (places ?? []).flatMap(([call, raw, ms]): [string, string, number][] => {
          const text = this.of(t.job, t.task, raw);
          return text === undefined ? [] : [[call, text, ms]];
        }),
      };
    });
    return { ...m, tasks };
  }

  /** undefined: not known yet, or no place. */
  of(job: JobId, task: TaskId, raw: string): string | undefined {
    if (raw === ELSEWHERE) return ELSEWHERE;
    if (!FORM.test(raw)) return undefined;
    const at = this.programOf(job, task);
    const program = at && (this.#programs.get(`${job}/${at.part}`) ?? this.#open(job, at));
    if (!program?.map) return undefined;
    let text = program.known.get(raw);
    if (text === undefined) {
      if (program.known.size >= MAX_PLACES) return ELSEWHERE;
      program.known.set(raw, (text = short(program.map(raw))));
    }
    return text;
  }

  #open(job: JobId, at: ProgramAt): Program {
    const program: Program = { map: undefined, known: new Map() };
    if (this.#programs.size >= MAX_PROGRAMS) this.#programs.delete(this.#programs.keys().next().value!);
    this.#programs.set(`${job}/${at.part}`, program);
    const read =
      at.language === 'typescript'
        ? this.store.sourceMap(job, at.part).then(stackMapper)
        : this.store.program(job, at).then(symboliser);
    void read
      .catch(() => (place: string) => place)
      .then((map) => {
        program.map = map;
      });
    return program;
  }
}

/** The function alone where no line is known; of a line, not the column. */
function short(place: string): string {
  const unknown = FORM.exec(place);
  if (unknown) return unknown[1] ?? (unknown[2] === undefined ? ELSEWHERE : `function ${unknown[2]}`);
  return place.replace(/(:\d+):\d+(\)?)$/, '$1$2');
}
