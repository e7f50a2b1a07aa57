/** What an editor begins with: the same small program in each language. */
export interface Template {
  language: string;
  path: string;
  text: string;
}

const C_MAIN = `int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  // Every rank adds its own number; all of them learn the sum.
  int mine = rank + 1, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  printf("rank %d of %d: the sum is %d\\n", rank, size, sum);
  MPI_Finalize();
  return 0;
}
`;

export const TEMPLATES: readonly [Template, ...Template[]] = [
  {
    language: 'TypeScript',
    path: 'main.ts',
    text: `import { COMM_WORLD as comm, SUM } from 'mayfly';

// Every rank adds its own number; all of them learn the sum.
const sum = comm.allreduce(comm.rank + 1, SUM);

console.log(\`rank \${comm.rank} of \${comm.size}: the sum is \${sum}\`);
`,
  },
  { language: 'C', path: 'main.c', text: `#include <mpi.h>\n#include <stdio.h>\n\n${C_MAIN}` },
  {
    language: 'C++',
    path: 'main.cpp',
    text: `#include <mpi.h>\n#include <cstdio>\n\n${C_MAIN.replace('printf', 'std::printf')}`,
  },
];

/** The template that this still is; undefined: somebody has written something. */
export const templateOf = (sources: readonly { path: string; text: string }[]): Template | undefined =>
  sources.length === 1 ? TEMPLATES.find((t) => t.path === sources[0]!.path && t.text === sources[0]!.text) : undefined;
