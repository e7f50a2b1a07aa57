/**
 * The text of docs/mpi-coverage.md: every function that the header declares, and whether it is there.
 * test/abi/coverage.test.ts keeps it current.
 */
import { FUNCTIONS } from './functions.ts';

/** Why not, by the first that fits the name without MPI_. */
const REASONS: readonly (readonly [RegExp, string])[] = [[/^Abi_.*fortran/, 'Fortran only']];
const reason = (short: string): string => REASONS.find(([p]) => p.test(short))?.[1] ?? 'not yet';

const HEAD = `# MPI functions

Generated from the code (\`npx vitest run packages/libmpi/test/abi/coverage.test.ts -u\`). Every function links under its MPI_ and its PMPI_ name. One that is not
there answers MPI_ERR_UNSUPPORTED_OPERATION through the error handler, with a text that names it; under the default handler the job ends with that text. Functions
with a large form (\`_c\`, counts of 64 bits) have it where the table says so; a memory has at most 4 GiB all the same.

Notes on what is there:

* A standard, buffered or ready send is complete when it returns: the Channel Memory is the buffer. A synchronous one waits for its receive.
* Every thread level is granted, MPI_THREAD_MULTIPLE too: a rank has one thread, and pthread_create fails.
* A send cannot be cancelled (MPI 4.1 §3.8.4 leaves that to the implementation); a receive can.
* MPI_Comm_spawn and MPI_Comm_spawn_multiple start more processes of the job's own program, on slots that are free at that moment: all of them, or none. MPI_ERR_SPAWN is the
  answer where there are too few (those that earlier children hold are waited for, for 20 seconds), where the command is another program, and beyond 256 processes more than the job began with, or 1024 in all. Info keys (\`soft\` too) change nothing.
  A spawned process has to call MPI_Init. MPI_UNIVERSE_SIZE counts the slots that there were for the job when it began.
* MPI_Comm_join answers no communicator. MPI_Comm_accept and MPI_Comm_connect
  join groups of the same job; a port belongs to the process that opened it, and a published name is known to another process as soon as the news has reached it. A connect
  to a port that is closed, or whose process has left MPI, answers MPI_ERR_PORT. At an open one it waits for the accept, for 180 seconds; then
  the answer is MPI_ERR_PORT as well. As in MPICH, the info key \`timeout\` sets another number of seconds (\`0.5\`, \`3600\`). The time runs on while the accepting process restarts elsewhere.
  A process that is spawned later hears the names that the root of its spawn knows then; that one of them is taken back it hears from those who know of it.
* MPI_Session_init works before, beside and after MPI_Init; the process sets are mpi://WORLD and mpi://SELF.
* MPI_Comm_split_type with MPI_COMM_TYPE_SHARED gives each rank a communicator of its own: no two share memory.
* An error code is its class; MPI_Error_string adds the text of the last error of that class, which names the call, the argument and what is allowed.
* Errors without a communicator go to MPI_COMM_SELF's handler, or to MPI_COMM_WORLD's where a program has set only that one.
* Windows: an operation is applied to its target's memory when the target consumes arrivals, that is inside any of its MPI calls; a target that computes for long
  lets its origins wait in flush, unlock and fence. A put is complete at its origin when it returns; locks are asked for with the first operation. An access
  outside of a window is an error at the origin's call, in a dynamic window at its next synchronisation. The memory model is MPI_WIN_UNIFIED. MPI_Win_allocate_shared is
  for communicators of one rank.
* Files are the files of the job, by name (docs/c-programs.md). An access is done when its answer has come, and everybody who asks later sees it: as if every file were
  in atomic mode, but for accesses of more than 8 MB outside of it. Data representations: native, internal, external32; a registered one with its
  conversion functions, if every basic type has the same length in it as here; the functions are called with all elements of an access at once. MPI_AINT and MPI_WCHAR have another length in external32: a view of them is refused.
* MPI_T has the limits of the layer as constants, counts messages, bytes, unmatched messages and images, and knows the incarnation; there are no events. What is read is the same in a replay.
* The calls of ULFM (MPIX_Comm_revoke, _shrink, _agree and their kin) are declared behind the standard's: ulfm.md. So are the constants of FT-MPI and MPIX_Comm_recover: ft-mpi.md.
* The calls of operation-level checkpoints (MPI_Ckpt_open, MPI_Ckpt, MPI_Ckpt_here, MPI_Rollback and their kin) stand behind those: mpi-ckpt.md.
* MPI_LONG_DOUBLE is the 128-bit type of WebAssembly's C, also in reductions.
* Reductions combine operands in an order that depends on counts and ranks alone: results are the same in every run, and the same at all ranks of an allreduce.
`;

/** Error classes of the standard that no call answers, and why. conformance/classes.c provokes every other one. */
export const NEVER_ANSWERED: Readonly<Record<string, string>> = {
  ERR_UNKNOWN: 'every error of a call has a class that says what it is',
  ERR_INTERN:
    'only after two thousand million communicators, when their numbers have run out: an error inside the ' +
    'library itself ends the incarnation, and the rank is recovered',
  ERR_PENDING:
    'a wait for several requests returns when all of them are complete, also when one of them failed; in ' +
    'TypeScript it is the answer to a checkpoint that is taken over a pending request',
  ERR_NO_SPACE: 'only when a job has 10,000 result files; what passes the limit of its output is MPI_ERR_QUOTA',
  ERR_RMA_CONFLICT:
    'MPI 4.1 §12.7 leaves the outcome of conflicting accesses undefined and calls none of them erroneous: a ' +
    'program that does not look at the values is right. Here they are applied one after the other',
  ERR_PROC_ABORTED:
    'MPI_Abort ends the whole job, whatever its communicator. A process that is lost is recovered, or, under the ' +
    'protocol app, the class is MPIX_ERR_PROC_FAILED (ulfm.md)',
  ERR_ABI: 'it is for the calls that set what Fortran needs, which are not there',
};

/** @param supported names without MPI_ of the functions that are there */
export function coverageText(supported: ReadonlySet<string>): string {
  const out = [HEAD];
  const base = FUNCTIONS.filter((f) => f.largeOf === undefined);
  const large = new Set(FUNCTIONS.map((f) => f.largeOf));
  const has = (name: string): boolean => supported.has(name.slice(4));
  out.push(
    `\n${base.filter((f) => has(f.name)).length} of ${base.length} functions are there, large forms not counted.\n`,
  );
  out.push(
    '\n## Error classes\n\nEach class that the standard names is provoked by a call in ' +
      '`packages/libmpi/conformance/classes.c`, but for those that no call answers; a program may raise ' +
      'them.\n\n| class | why not |\n| --- | --- |\n',
  );
  for (const [name, why] of Object.entries(NEVER_ANSWERED)) out.push(`| MPI_${name} | ${why} |\n`);
  let chapter = '';
  for (const f of base) {
    if (f.chapter !== chapter)
      out.push(`\n## ${(chapter = f.chapter)}\n\n| function | here | |\n| --- | --- | --- |\n`);
    const notes = has(f.name) ? (large.has(f.name) ? 'and `_c`' : '') : reason(f.name.slice(4));
    out.push(`| ${f.name} | ${has(f.name) ? 'yes' : 'no'} | ${notes} |\n`);
  }
  return out.join('');
}
