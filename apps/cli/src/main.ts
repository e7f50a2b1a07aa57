/** The command line `mayfly`, but for the compiler drivers (mayfly.ts). Each command resolves to its exit code. */
import { ApiFailure } from '@mayfly/client';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { PauseOptions } from './commands/pause.ts';
import type { CheckOptions } from './commands/check.ts';
import type { CheckpointOptions } from './commands/checkpoint.ts';
import type { OutputOptions } from './commands/jobs.ts';
import type { ServerCommandOptions } from './commands/server.ts';
import type { CreateOptions } from './commands/tokens.ts';
import type { VerifyOptions } from './commands/verify.ts';
import type { BrowserVolunteerOptions } from './commands/volunteer-browser.ts';
import type { VolunteerOptions } from './commands/volunteer.ts';
import type { ConnectionOptions } from './connection.ts';
import type { DemoOptions } from './demo/demo.ts';
import { CommandError, Exit, EXIT_HELP } from './exit-codes.ts';
import { bytes, translate } from './mpiexec-words.ts';
import { VERSION } from './version.ts';

// A command is loaded when it is called: `mayfly jobs` needs no server, and `--help` nothing at all.
const jobs = () => import('./commands/jobs.ts');
const serverCommands = () => import('./commands/server.ts');

const whole =
  (from: number, to: number) =>
  (text: string): number => {
    const n = Number(text);
    if (!/^\d+$/.test(text) || n < from || n > to)
      throw new InvalidArgumentError(`expected a whole number from ${from} to ${to}.`);
    return n;
  };
const seconds = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !Number.isFinite(n) || n < 0)
    throw new InvalidArgumentError('expected a number of seconds.');
  return n;
};
const size = (text: string): number => {
  const n = bytes(text);
  if (n === undefined) throw new InvalidArgumentError('expected a size such as 512M or 2G.');
  return n;
};
const VOLUNTEER_HELP = `
A headless volunteer runs jobs in C and C++ only. Such a program is a module of WebAssembly: it can call only the functions of
MPI and of its standard library that Mayfly gives it. A program in TypeScript is JavaScript that Node runs, with globals removed,
and Node does not call that a sandbox. A program that finds a way past them is Node code in the job's process: only what this machine puts
around that process (--check shows it) still holds it. Where that is Node's permission model alone, expect such a program to open
connections, and a determined one to act as this user. With --allow-typescript you accept that risk from everyone who can submit jobs.

With --browser, programs run in the sandbox of a browser, the strongest one available, and TypeScript is allowed as well. The browser gets
a temporary profile, which is deleted at the end.`;
const secondsFrom =
  (least: number) =>
  (text: string): number => {
    const n = seconds(text);
    if (n < least) throw new InvalidArgumentError(`expected a number of seconds, at least ${least}.`);
    return n;
  };
const factor = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !(n >= 1 && n <= 10_000))
    throw new InvalidArgumentError('expected a number from 1 to 10000.');
  return n;
};
const megabytes = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !Number.isFinite(n) || n < 0) throw new InvalidArgumentError('a number of megabytes.');
  return n;
};
const DRIVER_HELP = {
  mpicc: 'compile and link C, with the options of clang and the link of MPI',
  mpicxx: 'compile and link C++ (also as mpic++ and mpiCC)',
  ar: 'archives of the objects of mpicc; likewise ranlib, nm, objdump, size, strip',
};
const more = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

const connected = (command: Command): Command =>
  command
    .option('--server <url>', 'the server (else MAYFLY_SERVER, else the config file)')
    .option('--token <token>', 'a token of the server (else MAYFLY_TOKEN, else the config file)')
    .option('--insecure', 'accept a self-signed certificate of the server');

const serving = (command: Command, dataDir: string): Command =>
  command
    .option('-p, --port <port>', 'port to listen on; 0: any free one', whole(0, 65535))
    .option('--host <address>', 'address to bind, 0.0.0.0 for all (default 127.0.0.1: this machine only)')
    .option('-d, --data-dir <folder>', 'folder of all durable data; one server per folder', dataDir)
    .option('--tls-cert <file>', 'certificate chain (PEM); browsers on other machines need HTTPS')
    .option('--tls-key <file>', 'its private key (PEM)')
    .option('--tls-self-signed', 'HTTPS with a self-signed certificate (browsers warn once)')
    .option('--tls-name <name>', 'an additional host name or address for that certificate (repeatable)', more)
    .option('--public-url <url>', 'public URL of the server behind a proxy or tunnel')
    .option(
      '--allow-host <name>',
      "another host name of the server; '.example.org': every name below it (repeatable)",
      more,
    )
    .option(
      '--compile-workers <n>',
      'programs to compile at the same time (default: by cores and memory)',
      whole(1, 64),
    )
    .option('--trust-proxy', 'trust X-Forwarded-For and -Proto, for a server behind a reverse proxy')
    .option('--token <token>', "the owner's token (default: created at the first start and printed once)")
    .option('--room <code>', 'join code that volunteers must enter')
    .option(
      '--reserve <MB>',
      'with less free space, the server rejects new jobs; below a quarter of it, jobs pause (default: 5 % of ' +
        'the disk, at most 256)',
      megabytes,
    )
    .option('--channel-memories <n>', 'Channel Memories per job', whole(1, 16))
    .option('--grace <seconds>', 'how long a disconnected node keeps its ranks (default: 3)', seconds)
    .option('--silence <seconds>', 'how long a connected but silent node keeps its ranks (default: 10)', seconds)
    .option(
      '--restart-grace <seconds>',
      'how long to wait for nodes to come back after a server restart (default: 10)',
      seconds,
    )
    .addOption(
      new Option('--log <level>', 'log level of the structured log on standard error').choices([
        'silent',
        'fatal',
        'error',
        'warn',
        'info',
        'debug',
        'trace',
      ]),
    );

function commands(done: (code: number) => void): Command {
  const program = new Command('mayfly')
    .description('Real MPI programs on volatile browser tabs')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .addHelpText('after', EXIT_HELP)
    .exitOverride();
  const act =
    <A extends unknown[]>(work: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> =>
      done(await work(...args));

  connected(
    program
      .command('mpiexec')
      .alias('mpirun')
      .description('run an MPI program and wait until it ends')
      .argument(
        '<program>',
        'output of mayfly mpicc (or another .wasm), C or C++ files, a TypeScript file, or a folder with mayfly.json',
      )
      .argument('[args...]', 'more C or C++ files, then the arguments of the program')
      .requiredOption('-n, --np <ranks>', 'number of ranks', whole(1, 1024))
      .option('-l, --label', "put '[rank] ' before each line of output")
      .option('-q, --quiet', 'hide the progress line and hints')
      .option('-f, --file <file>', 'input file for the program, as path or name=path (repeatable)', more)
      .option('-o, --output-dir <folder>', 'write result files there (without a server: default is the current folder)')
      .option('--name <name>', 'name of the job')
      .option('--about <text>', 'purpose of the job, shown to volunteers (200 characters)')
      .option('--cc-flags <options>', "compiler options for C or C++ files, as one word: '-O3 -DN=100'")
      .addOption(new Option('--protocol <name>', 'fault tolerance').choices(['pessimistic', 'none']))
      .addOption(
        new Option(
          '--durability <when>',
          'sync the log after forwarding a message (behind) or before (strict)',
        ).choices(['behind', 'strict']),
      )
      .option('--checkpoint <seconds>', 'target interval between checkpoints of a rank', seconds)
      .option('--grace <seconds>', 'how long a silent node keeps its ranks', seconds)
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
      .option('--time-limit <seconds>', 'end the job after this time', seconds)
      .option('--env <name=value>', 'environment variable of every rank (repeatable); also -env, -genv, -x', more)
      .option('--room <code>', 'run only on volunteers of this room')
      .option('--memory <size>', 'memory limit of a rank, such as 512M or 2G', size)
      .option('--seed <n>', "seed of the job's random numbers, to repeat a run", whole(0, 2 ** 48 - 1)),
  )
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Standard input goes to rank 0. Ctrl-C cancels the job, a second one exits at once. Without --server, mayfly starts a
server and headless nodes on this machine for this one job.

  mayfly mpicc -O3 pi.c -o pi && mayfly mpiexec -n 4 ./pi 1000000
  mayfly mpiexec -n 4 --cc-flags '-O3' main.c util.c 1000000
  mayfly mpiexec -n 4 pi.ts 1000000
  mayfly mpiexec -n 4 --file 1138_bus.mtx cg.ts --matrix 1138_bus.mtx
  mayfly mpiexec --server https://class.example:7070 --token … -n 16 -l heat.ts < parameters.txt
${EXIT_HELP}`,
    )
    .action(
      act(async (file: string, args: string[], { np, ...o }: { np: number }) =>
        (await import('./commands/mpiexec.ts')).mpiexec(file, args, { ...o, n: np }),
      ),
    );

  serving(program.command('server').description('run a server'), './mayfly-data').action(
    act(async (o: ServerCommandOptions) => (await serverCommands()).server(o)),
  );
  serving(
    program
      .command('start')
      .description('run a server for a first look: next free port from 7070, a fresh token in the link'),
    './mayfly-data',
  ).action(act(async (o: ServerCommandOptions) => (await serverCommands()).start(o)));

  program
    .command('volunteer')
    .description('offer this machine as a node, without a window')
    .argument('[url]', 'the server')
    .option('-s, --slots <n>', 'number of ranks to run at the same time (default: cores − 1)', whole(1, 256))
    .option('--name <name>', 'name of the node (default: host name)')
    .option('--room <code>', 'join code of the room')
    .option(
      '--allow-typescript',
      'also run jobs in TypeScript. Only for jobs of people whom you trust with this machine: see below',
    )
    .option(
      '--browser [path]',
      "run the server's volunteer page in an installed Chrome, Chromium, Edge or Firefox without a window; " +
        '=path or =name selects one',
    )
    .option('--no-browser-sandbox', 'with --browser: use Chromium also where it has no sandbox (as root)')
    .option('--insecure', 'accept a self-signed certificate of the server')
    .addOption(
      new Option(
        '--sandbox <kind>',
        "isolation of jobs: bubblewrap (Linux), a process with Node's permission model, or none",
      )
        .choices(['auto', 'bwrap', 'process', 'none'])
        .default('auto'),
    )
    .option('--nice <n>', 'how much jobs yield to other programs of this machine', whole(0, 19), 10)
    .option('--check', 'test the protection of this machine, and list what to install for more; needs no server')
    .addHelpText('after', VOLUNTEER_HELP)
    .action(
      act(
        async (
          url: string | undefined,
          { browser, ...o }: VolunteerOptions & BrowserVolunteerOptions & { browser?: string },
        ) =>
          browser === undefined || o.check
            ? (await import('./commands/volunteer.ts')).volunteer(url, o)
            : (await import('./commands/volunteer-browser.ts')).browserVolunteer(url, browser, o),
      ),
    );

  const group = program.command('jobs').description('show jobs and their output');
  connected(
    group.command('list', { isDefault: true }).description('all jobs, newest first').option('--json', 'as JSON'),
  ).action(act(async (o: ConnectionOptions & { json?: boolean }) => (await jobs()).list(o)));
  connected(
    group
      .command('show')
      .description('one job: ranks, faults, result files')
      .argument('<id>')
      .option('--json', 'as JSON'),
  ).action(act(async (id: string, o: ConnectionOptions & { json?: boolean }) => (await jobs()).show(id, o)));
  connected(group.command('cancel').description('end jobs').argument('<id...>')).action(
    act(async (ids: string[], o: ConnectionOptions) => (await jobs()).cancel(ids, o)),
  );
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
      .command('checkpoint')
      .description(
        'make every rank of a job take a checkpoint now (at its next MPI call), and wait for the checkpoints',
      )
      .argument('<job>')
      .option('-t, --task <rank>', 'of one rank only', whole(0, 1023))
      .option('--no-wait', 'only ask for them')
      .option('--timeout <seconds>', 'stop waiting after this time (the ranks still take the checkpoints)', seconds),
  ).action(
    act(async (id: string, o: CheckpointOptions) => (await import('./commands/checkpoint.ts')).checkpoint(id, o)),
  );

  connected(
    program
      .command('verify')
      .description(
        'run an ended job once more and compare all output byte for byte; exit code 0 if equal ' +
          '(docs/trust.md explains what that means)',
      )
      .argument('<job>')
      .option('--room <code>', 'run the second run on volunteers of this room'),
  ).action(act(async (id: string, o: VerifyOptions) => (await import('./commands/verify.ts')).verify(id, o)));

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
      (await import('./commands/report.ts')).report(id, o),
    ),
  );

  const tokens = program
    .command('token')
    .description('create tokens for others: viewers, submitters, owners (needs the token of an owner)');
  connected(
    tokens
      .command('create')
      .description('create a token; it is printed only once')
      .argument('<name>', 'shown as the owner of jobs submitted with it')
      .addOption(
        new Option(
          '-r, --role <role>',
          'viewer: read only. submitter: submits jobs and manages their own. owner: everything',
        )
          .choices(['viewer', 'submitter', 'owner'])
          .default('submitter'),
      )
      .option('--days <n>', 'expires after this many days', whole(1, 3650)),
  ).action(act(async (name: string, o: CreateOptions) => (await import('./commands/tokens.ts')).create(name, o)));
  connected(
    tokens
      .command('list', { isDefault: true })
      .description('list names, roles, creation and last use')
      .option('--json', 'as JSON'),
  ).action(act(async (o: ConnectionOptions & { json?: boolean }) => (await import('./commands/tokens.ts')).list(o)));
  connected(
    tokens
      .command('revoke')
      .description('revoke tokens at once and close their connections')
      .argument('<name...>', 'name or id'),
  ).action(
    act(async (names: string[], o: ConnectionOptions) => (await import('./commands/tokens.ts')).revoke(names, o)),
  );
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
          'or from the log',
        seconds,
      )
      .option('--no-wait', 'do not wait until all ranks have left'),
  ).action(act(async (id: string, o: PauseOptions) => (await import('./commands/pause.ts')).pause(id, o)));
  connected(
    program.command('resume').description('resume a paused job as soon as there are slots').argument('<job>'),
  ).action(act(async (id: string, o: ConnectionOptions) => (await import('./commands/pause.ts')).resume(id, o)));

  connected(
    program
      .command('backup')
      .description(
        "take a backup of a server's data directory, jobs running or not; prints its folder on the server's disk",
      ),
  ).action(act(async (o: ConnectionOptions) => (await import('./commands/backup.ts')).backup(o)));
  program
    .command('restore')
    .description('create a new data directory from a backup; its jobs resume when a server starts there')
    .argument('<backup>', 'the folder that `mayfly backup` printed')
    .requiredOption('-d, --data-dir <folder>', 'new or empty')
    .action(
      act(async (from: string, o: { dataDir: string }) => (await import('./commands/backup.ts')).restore(from, o)),
    );

  program
    .command('check')
    .description(
      'check every file and checksum of a data directory that no server uses; exit code 0: healthy, 1: ' +
        'problems, 2: cannot check',
    )
    .argument('<data-dir>')
    .option('--repair', 'restore what can be restored; unusable files move to damaged/, nothing is deleted')
    .option('--json', 'the result as JSON')
    .action(act(async (dir: string, o: CheckOptions) => (await import('./commands/check.ts')).check(dir, o)));

  // What mayfly.ts has taken before it came here: listed for --help.
  for (const [name, description] of Object.entries(DRIVER_HELP))
    program.command(name).description(description).argument('[arguments...]').helpOption(false).allowUnknownOption();
  program
    .command('cmake-toolchain')
    .description('print the path of the CMake toolchain file: cmake -DCMAKE_TOOLCHAIN_FILE=$(mayfly cmake-toolchain) …')
    .action(act(async () => (await import('./commands/cmake-toolchain.ts')).cmakeToolchain()));

  program
    .command('new')
    .description('create a program to start from')
    .argument('<folder>')
    .action(act(async (folder: string) => (await import('./commands/new.ts')).newProgram(folder)));
  program
    .command('demo')
    .description('run four tabs on a real matrix, close two of them while they compute, and compare the answers')
    .option('--headless-nodes', 'headless nodes instead of browser tabs')
    .option('--show', 'show the browser')
    .action(act(async (o: DemoOptions) => (await import('./demo/demo.ts')).demo(o)));
  program
    .command('simulate')
    .description('test the protocol cores with simulated faults (see --seeds, --seed)')
    .helpOption(false)
    .allowUnknownOption()
    .argument('[args...]')
    .passThroughOptions()
    .action(act(async (args: string[]) => (await import('./simulate.ts')).simulateCommand(args)));
  return program;
}

/** Words after `mpiexec` that come from other implementations; `--browser` without a value. */
function habits(argv: string[]): string[] {
  // A value of --browser stands behind '=': the word after it is the server.
  if (argv[0] === 'volunteer') return argv.map((a) => (a === '--browser' ? '--browser=' : a));
  if (argv[0] !== 'mpiexec' && argv[0] !== 'mpirun') return argv;
  const { argv: own, ignored } = translate(argv.slice(1), process.env);
  if (own[0] === '--version') return ['--version'];
  if (ignored.length > 0 && !own.includes('-q') && !own.includes('--quiet'))
    process.stderr.write(`mayfly: ignored, because volunteers provide the slots: ${ignored.join(', ')}\n`);
  return [argv[0], ...own];
}

/** An error leads to the help of the command that it is about. */
function nameHelp(command: Command, name: string): Command {
  command.showHelpAfterError(`(${name} --help lists the options)`);
  for (const inner of command.commands) nameHelp(inner, `${name} ${inner.name()}`);
  return command;
}

async function main(): Promise<number> {
  let code: number = Exit.OK;
  try {
    await nameHelp(
      commands((c) => (code = c)),
      'mayfly',
    ).parseAsync(habits(process.argv.slice(2)), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommandError) {
      process.stderr.write(`mayfly: ${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof ApiFailure) {
      const places = error.diagnostics.map((d) => `\n  ${d.file}:${d.line}:${d.column} ${d.code}: ${d.message}`);
      process.stderr.write(`mayfly: ${error.message} (${error.code})${places.join('')}\n`);
      return error.status === 401 || error.status === 403
        ? Exit.NO_PERMISSION
        : error.status === 422 || error.status === 400
          ? Exit.USAGE
          : Exit.FAILED;
    }
    // Commander has printed its own message.
    if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.'))
      return error.exitCode === 0 ? 0 : Exit.USAGE;
    const e = error as { code?: unknown; message?: string; stack?: string };
    process.stderr.write(`mayfly: ${e.message ?? String(error)}${typeof e.code === 'string' ? ` (${e.code})` : ''}\n`);
    if (process.env.MAYFLY_DEBUG) process.stderr.write(`${e.stack}\n`);
    return Exit.FAILED;
  }
}

// A reader that left (`mayfly … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
});
const code = await main();
// Output to a pipe is written behind: let it out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
