/** The commands about jobs that a server has. */
import { Option, type Command } from 'commander';
import { connected, rooms, seconds, whole, type Act } from './options.ts';
import type { CheckpointOptions } from '../commands/checkpoint.ts';
import type { ListOptions, OutputOptions } from '../commands/jobs.ts';
import type { PauseOptions } from '../commands/pause.ts';
import type { VerifyOptions } from '../commands/verify.ts';
import type { WaitOptions } from '../commands/wait.ts';
import type { ConnectionOptions } from '../connection.ts';
import type { JobState } from '@mayfly/wire';

const jobs = () => import('../commands/jobs.ts');
const STATES: JobState[] = ['waiting', 'running', 'stalled', 'pausing', 'paused', 'done', 'failed', 'cancelled'];

export function jobCommands(program: Command, act: Act): void {
  const group = program.command('jobs').description('show jobs and their output');
  connected(
    group
      .command('list', { isDefault: true })
      .description('jobs, newest first')
      .addOption(new Option('--state <state...>', 'only jobs in these states').choices(STATES))
      .option('--limit <n>', 'only the newest', whole(1, 1_000_000))
      .option('-w, --watch', 'show the list again whenever it changes, until Ctrl-C')
      .option('--json', 'as JSON'),
  ).action(act(async (o: ListOptions) => (await jobs()).list(o)));
  connected(
    group
      .command('show')
      .description('one job: ranks, faults, result files')
      .argument('<id>')
      .option('--json', 'as JSON'),
  ).action(act(async (id: string, o: ConnectionOptions & { json?: boolean }) => (await jobs()).show(id, o)));
  connected(
    group.command('cancel').description('end jobs; exit code 1 if one had already ended').argument('<id...>'),
  ).action(act(async (ids: string[], o: ConnectionOptions) => (await jobs()).cancel(ids, o)));
  connected(
    group
      .command('output')
      .description('output of the ranks, or result files')
      .argument('<id>')
      .option('-t, --task <rank>', 'of one rank only', whole(0, 1023))
      .option('-e, --stderr', 'standard error instead of standard output')
      .option('-l, --label', "put '[rank] ' before each line")
      .option('-F, --follow', 'until the job ends')
      .option('-o, --files <folder>', 'write the result files there instead'),
  ).action(act(async (id: string, o: OutputOptions) => (await jobs()).output(id, o)));
  connected(group.command('rm').description('delete ended jobs and their output').argument('<id...>')).action(
    act(async (ids: string[], o: ConnectionOptions) => (await jobs()).remove(ids, o)),
  );

  connected(
    program
      .command('wait')
      .description("wait until jobs have ended; the exit code is the job's (of several: of the first that failed)")
      .argument('<job...>')
      .option('--timeout <seconds>', 'stop waiting after this time with exit code 124; the jobs go on', seconds)
      .option('-o, --output-dir <folder>', 'write the result files there')
      .option('-q, --quiet', 'hide the progress line, and how the jobs ended'),
  ).action(act(async (ids: string[], o: WaitOptions) => (await import('../commands/wait.ts')).wait(ids, o)));

  connected(
    program
      .command('checkpoint')
      .description(
        'make every rank of a job take a checkpoint now (at its next MPI call), and wait for the checkpoints',
      )
      .argument('<job>')
      .option('-t, --task <rank>', 'of one rank only (with vcl and pcl always of all)', whole(0, 1023))
      .option('--no-wait', 'only ask for them')
      .option('--timeout <seconds>', 'stop waiting after this time (the ranks still take the checkpoints)', seconds),
  ).action(
    act(async (id: string, o: CheckpointOptions) => (await import('../commands/checkpoint.ts')).checkpoint(id, o)),
  );

  connected(
    program
      .command('verify')
      .description(
        'run an ended job once more and compare all output byte for byte; exit code 0 if equal ' +
          '(docs/trust.md explains what that means)',
      )
      .argument('<job>')
      .option(
        '--room <code>',
        "run the second run on volunteers of this room; 'A,B': of these, one for each cluster ('-': without a room)",
        rooms,
      ),
  ).action(act(async (id: string, o: VerifyOptions) => (await import('../commands/verify.ts')).verify(id, o)));

  connected(
    program
      .command('report')
      .description(
        'the report of a run: ranks, nodes, lost ranks with their recovery, hashes of what it wrote, and ' +
          'whether its other runs wrote the same',
      )
      .argument('<job>')
      .option('--json', 'as JSON, as GET /api/jobs/<id>/report has it'),
  ).action(
    act(async (id: string, o: ConnectionOptions & { json?: boolean }) =>
      (await import('../commands/report.ts')).report(id, o),
    ),
  );
}

export function pauseCommands(program: Command, act: Act): void {
  connected(
    program
      .command('pause')
      .description(
        'pause a job and free its slots: its ranks take checkpoints and leave; continue it with `mayfly resume`',
      )
      .argument('<job>')
      .option(
        '--images <seconds>',
        'time for ranks to take a checkpoint (default 15); a rank without one resumes from its previous one, ' +
          'or from the log (with vcl and pcl: all ranks resume from their last common checkpoint)',
        seconds,
      )
      .option('--no-wait', 'do not wait until all ranks have left'),
  ).action(act(async (id: string, o: PauseOptions) => (await import('../commands/pause.ts')).pause(id, o)));
  connected(
    program.command('resume').description('resume a paused job as soon as there are slots').argument('<job>'),
  ).action(act(async (id: string, o: ConnectionOptions) => (await import('../commands/pause.ts')).resume(id, o)));
}
