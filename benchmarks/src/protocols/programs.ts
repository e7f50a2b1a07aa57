/** The programs under which protocols are compared, on 4 ranks: examples that say whether their answer is right. */
export interface Program {
  /** As on the command line, and in the names of figures. */
  readonly name: string;
  readonly title: string;
  /** What it is an example of. */
  readonly about: string;
  /** Below examples/. */
  readonly example: string;
  /** Runs of some 8 s on two cores; `long`: of up to a minute. */
  readonly args: readonly string[];
  readonly long: readonly string[];
}

export const RANKS = 4;

const heat = (steps: number): string[] => ['--points', '1022', '--steps', String(steps), '--pictures', '0'];
const rays = (samples: number): string[] => ['--width', '640', '--height', '480', '--samples', String(samples)];

export const PROGRAMS: readonly Program[] = [
  {
    name: 'bt',
    title: 'NAS BT',
    about: 'a flow; some messages of 1 to 60 KB between steps',
    example: 'nas-bt',
    args: ['W'],
    long: ['A'],
  },
  {
    name: 'cg',
    title: 'NAS CG',
    about: 'conjugate gradients; every product and sum waits for messages',
    example: 'nas-cg',
    args: ['W'],
    long: ['A'],
  },
  {
    name: 'heat',
    title: 'heat',
    about: 'a grid; borders to four neighbours in each step',
    example: 'c-heat',
    args: heat(1800),
    long: heat(9000),
  },
  {
    name: 'rays',
    title: 'ray tracer',
    about: 'master and workers; tiles to whoever is free, written to a file as they come',
    example: 'cxx-raytracer',
    args: rays(4),
    long: rays(10),
  },
];
