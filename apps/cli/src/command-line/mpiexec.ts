/** The commands that run a program: mpiexec waits for its end, submit does not. */
import { PROTOCOL_NAMES } from '@mayfly/protocols/manifests';
import { DEFAULT_SLOT_MS, DEFAULT_WHOLE_EVERY, MAX_CHECKSUMS, MAX_RANKS, MAX_TEAM } from '@mayfly/wire';
import { Option, type Command } from 'commander';
import { EXIT_HELP } from '../exit-codes.ts';
import {
  clusters,
  connected,
  factor,
  more,
  rooms,
  seconds,
  secondsFrom,
  size,
  timers,
  whole,
  type Act,
} from './options.ts';

/** What a job is made of, for both commands. */
const jobOptions = (command: Command): Command =>
  connected(
    command
      .argument(
        '<program>',
        'output of mayfly mpicc (or another .wasm), C or C++ files, a TypeScript file, or a folder with mayfly.json',
      )
      .argument('[args...]', "more C or C++ files, then the arguments of the program; ':' starts another program")
      .option('-n, --np <ranks>', 'number of ranks (default: 1)', whole(1, MAX_RANKS))
      .option('-q, --quiet', 'hide the progress line and hints')
      .option('--file <file>', 'input file for the program, as path or name=path (repeatable)', more)
      .option('--name <name>', 'name of the job')
      .option('--about <text>', 'purpose of the job, shown to volunteers (200 characters)')
      .option('--cc-flags <options>', "compiler options for C or C++ files, as one word: '-O3 -DN=100'")
      .addOption(
        new Option(
          '--protocol <name>',
          'what a lost rank costs: the work of its node since its checkpoint (pessimistic, the default: every ' +
            'message between nodes goes through a log), the work of all ranks since their last common checkpoint ' +
            '(vcl: no log, output is final some seconds late, not for TypeScript; pcl: the same, but ranks stop ' +
            'sending for each checkpoint), that of its cluster and of those that depend on it (hc3i: as vcl within ' +
            'each of --clusters), or the job (none). app: a lost rank stays lost, the others learn of it, and the ' +
            'program decides (ULFM, or FT-MPI with --ft-comm)',
        ).choices(PROTOCOL_NAMES),
      )
      .addOption(
        new Option(
          '--durability <when>',
          'sync the log after forwarding a message (behind) or before (strict); vcl, pcl and hc3i have no such log, ' +
            'and show output only when a checkpoint on disk that no loss can undo covers it',
        ).choices(['behind', 'strict']),
      )
      .option(
        '--team <ranks>',
        'ranks of one node that exchange messages in its memory, at most; 1: all messages pass through the server. ' +
          'With --protocol pessimistic such ranks are lost, restarted and checkpointed together. ' +
          `Default: ${MAX_TEAM}, or fewer where the room loses ranks often`,
        whole(1, MAX_TEAM),
      )
      .option(
        '--clusters <clusters>',
        'with --protocol hc3i: number of clusters into which the ranks are split evenly (2), or the ranks of each ' +
          "cluster ('0-3,4-7'; '0-2+7,3-6'), which take checkpoints and go back on their own",
        clusters,
      )
      .addOption(
        new Option(
          '--ft-comm <mode>',
          'with --protocol app, FT-MPI: what a loss makes of MPI_COMM_WORLD. The job ends (abort), the rank stays ' +
            'empty (blank), the ranks move up (shrink), or the rank starts again from main (rebuild, the default ' +
            'with --ft-msg)',
        ).choices(['abort', 'blank', 'shrink', 'rebuild']),
      )
      .addOption(
        new Option(
          '--ft-msg <mode>',
          'with --protocol app, FT-MPI: what a recovery makes of messages and requests under way. All are dropped ' +
            '(reset, the default with --ft-comm), or those between ranks that are left go on (cont)',
        ).choices(['cont', 'reset']),
      )
      .option(
        '--ft-wait <seconds>',
        'with --ft-comm rebuild: end the job when a rank that starts again has found no slot for this time; 0: wait ' +
          `for ever (default: ${DEFAULT_SLOT_MS / 1000})`,
        seconds,
      )
      .addOption(
        new Option(
          '--map-by <what>',
          'fill the slots of a node first (slot, the default where ranks form teams), or take one node after the ' +
            'other (node)',
        ).choices(['slot', 'node']),
      )
      .option(
        '--checkpoint <seconds>',
        'target interval between checkpoints of a rank (default: 30; app and none take none). Where one takes ' +
          'more than half of it, they are further apart, and a line says so. With vcl, pcl and hc3i from one ' +
          'checkpoint of all ranks (of a cluster) to the next, at least 0.1 (default: calculated from their ' +
          "cost and the losses); with hc3i also of each cluster ('30,60'; '30,none': without a timer, the other " +
          'cluster takes checkpoints only when messages or output ask for them)',
        timers,
      )
      .option(
        '--parity <checksums>',
        'keep checkpoints at the nodes, protected by so many checksums on other nodes, which may be lost at once; ' +
          'only some go to the server (with --protocol pessimistic, vcl or pcl; default: all go there)',
        whole(1, MAX_CHECKSUMS),
      )
      .option(
        '--whole-every <n>',
        `with --parity: one of so many checkpoints of a rank or team (with vcl and pcl: of all ranks) goes to the server ` +
          `(default: ${DEFAULT_WHOLE_EVERY})`,
        whole(1, 1000),
      )
      .option(
        '--stuck-after <seconds>',
        'restart a rank without progress on another node, after at least this time (default: 600)',
        secondsFrom(1),
      )
      .option(
        '--stuck-factor <times>',
        '… and this many times the longest pause of any rank of the job (default: 10)',
        factor,
      )
      .option('--time-limit <seconds>', 'end the job after this time; also --timeout', seconds)
      .option('--env <name=value>', 'environment variable of every rank (repeatable); also -genv, -x', more)
      .option(
        '--part-env <name=value>',
        "environment variable of the first program's ranks, where ':' starts others (repeatable); also -env",
        more,
      )
      .option(
        '--room <code>',
        "run only on volunteers of this room; with --clusters 'A,B': a room for each cluster ('-': without a room)",
        rooms,
      )
      .option('--notify <url>', 'URL to which the server posts the end of the job')
      .option(
        '--memory <size>',
        'memory limit of a rank, such as 512M; at most what the server allows (default: 1G)',
        size,
      )
      .option('--seed <n>', "seed of the job's random numbers, to repeat a run", whole(0, 2 ** 48 - 1)),
  ).passThroughOptions();

const submitModule = () => import('../commands/submit.ts');

interface MpiexecWords {
  np?: number;
  detach?: boolean;
  stdin: boolean;
}

export function mpiexecCommand(program: Command, act: Act): void {
  jobOptions(program.command('mpiexec').alias('mpirun').description('run an MPI program and wait until it ends'))
    .option('-l, --label', "put '[rank] ' before each line of output")
    .option('--outfile-pattern <path>', "write each rank's output to a file; %r in its name is the rank (out.%r)")
    .option('--errfile-pattern <path>', 'the same for standard error')
    .option(
      '--output-filename <folder>',
      "write each rank's output to <folder>/1/rank.<rank>/stdout and stderr as well, as Open MPI does; " +
        "'<folder>:nocopy': only there",
    )
    .option('--timestamp-output', 'put the time before each line of output')
    .option('--no-stdin', 'rank 0 has no standard input; also -s none')
    .option('--local', 'run on this machine, whatever server is configured')
    .option('-o, --output-dir <folder>', 'write result files there (without a server: default is the current folder)')
    .option('--detach', 'submit the job to the server, print its id, and leave, as mayfly submit does')
    .addHelpText(
      'after',
      `
Standard input goes to rank 0. Ctrl-C cancels the job, a second one exits at once. Without --server, mayfly starts a
server and headless nodes on this machine for this one job. What mayfly mpicc has linked can also be started directly:
./pi runs it as one rank, with --local.

A ':' starts another program of the same job, with -n, -env, -x and --cc-flags of its own: its ranks follow in
MPI_COMM_WORLD, and MPI_APPNUM counts the programs from 0. All other options stand before the first program.
-configfile <file> reads such programs from a file, one on each line, with '#' before comments.

Words of MPICH, Open MPI and Slurm are understood (-np, -genv, -x, -outfile-pattern, --tag-output, MPIEXEC_TIMEOUT, …).
One line says which of them mean nothing here, because volunteers provide the slots: -f and -hostfile, --bind-to, …

  mayfly mpicc -O3 pi.c -o pi && mayfly mpiexec -n 4 ./pi 1000000
  mayfly mpiexec -n 4 --cc-flags '-O3' main.c util.c 1000000
  mayfly mpiexec -n 4 pi.ts 1000000
  mayfly mpiexec -n 1 ./master input : -n 3 -env VERBOSE 1 ./worker
  mayfly mpiexec -n 4 --file 1138_bus.mtx cg.ts --matrix 1138_bus.mtx
  mayfly mpiexec --server https://class.example:7070 --token … -n 16 -l heat.ts < parameters.txt
${EXIT_HELP}`,
    )
    .action(
      act(async (file: string, args: string[], { np = 1, detach, stdin, ...o }: MpiexecWords) =>
        detach
          ? (await submitModule()).submit(file, args, { ...o, n: np, ...(stdin ? {} : { stdin: false }) })
          : (await import('../commands/mpiexec.ts')).mpiexec(file, args, { ...o, n: np, stdin }),
      ),
    );
}

export function submitCommand(program: Command, act: Act): void {
  jobOptions(program.command('submit').description('submit an MPI program to a server, and print the id of the job'))
    .option('--stdin <file>', "standard input of rank 0; '-': all of this command's")
    .addHelpText(
      'after',
      `
Rank 0 reads what \`--stdin\` names, or the file that standard input is redirected from (< file), or else nothing.

  job=$(mayfly submit -n 4 pi.ts 1000000)
  mayfly wait $job && mayfly jobs output $job`,
    )
    .action(
      act(async (file: string, args: string[], { np = 1, ...o }: { np?: number }) =>
        (await submitModule()).submit(file, args, { ...o, n: np }),
      ),
    );
}
