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
    if (!/^\d+$/.test(text) || n < from || n > to) throw new InvalidArgumentError(`expected a whole number from ${from} to ${to}.`);
    return n;
  };
const seconds = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !Number.isFinite(n) || n < 0) throw new InvalidArgumentError('expected a number of seconds.');
  return n;
};
const size = (text: string): number => {
  const n = bytes(text);
  if (n === undefined) throw new InvalidArgumentError('expected a size such as 512M or 2G.');
  return n;
};
const VOLUNTEER_HELP = `
A headless volunteer takes jobs in C and C++ only. Such a program is a module of WebAssembly: it reaches nothing but the functions of
MPI and of its standard library that Mayfly hands to it. A program in TypeScript is JavaScript that Node runs, with globals removed,
which Node itself calls no sandbox. A program that finds a way past them is Node code in the job's process: only what this machine puts
around that process (--check shows it) still holds it. Where that is Node's permission model alone, expect such a program to open
connections, and a determined one to act as this user. With --allow-typescript you accept that from everybody who may submit jobs.

With --browser the programs run in the sandbox of a browser, which is the best one there is, and TypeScript is taken as well. The browser
has a profile of its own, which is removed at the end.`;
const secondsFrom = (least: number) => (text: string): number => {
  const n = seconds(text);
  if (n < least) throw new InvalidArgumentError(`expected a number of seconds, at least ${least}.`);
  return n;
};
const factor = (text: string): number => {
  const n = Number(text);
  if (text.trim() === '' || !(n >= 1 && n <= 10_000)) throw new InvalidArgumentError('expected a number from 1 to 10000.');
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
    .option('--insecure', 'accept a certificate that the server made itself');

const serving = (command: Command, dataDir: string): Command =>
  command
    .option('-p, --port <port>', 'port to listen on; 0: any free one', whole(0, 65535))
    .option('--host <address>', 'address to bind, 0.0.0.0 for all (default 127.0.0.1: this machine only)')
    .option('-d, --data-dir <folder>', 'where everything durable lies; one server per folder', dataDir)
    .option('--tls-cert <file>', 'certificate chain (PEM); browsers on other machines need HTTPS')
    .option('--tls-key <file>', 'its private key (PEM)')
    .option('--tls-self-signed', 'HTTPS with a certificate that the server makes itself (browsers warn once)')
    .option('--tls-name <name>', 'a further host name or address for that certificate (repeatable)', more)
    .option('--public-url <url>', 'how the server is reached from outside, behind a proxy or tunnel')
    .option('--allow-host <name>', "another name under which the server is reached; '.example.org': every name below it (repeatable)", more)
    .option('--compile-workers <n>', 'programs that are compiled at the same time (default: by cores and memory)', whole(1, 64))
    .option('--trust-proxy', 'believe X-Forwarded-For and -Proto: a reverse proxy stands before the server')
    .option('--token <token>', "the owner's token (default: drawn at the first start and printed once)")
    .option('--room <code>', 'volunteers must give this join code')
    .option('--reserve <MB>', 'below so much free space new jobs are refused; below a quarter of it jobs pause (default: 5 % of the disk, at most 256)', megabytes)
    .option('--channel-memories <n>', 'Channel Memories per job', whole(1, 16))
    .option('--grace <seconds>', 'a node whose connection broke keeps its ranks for so long (default: 3)', seconds)
    .option('--silence <seconds>', 'a node that is connected and says nothing keeps them for so long (default: 10)', seconds)
    .option('--restart-grace <seconds>', 'after a start of the server nodes may come back for so long (default: 10)', seconds)
    .addOption(new Option('--log <level>', 'level of the structured log on standard error').choices(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']));

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
      .description('run an MPI program and wait for its end')
      .argument('<program>', 'a.out of mayfly mpicc (or another .wasm), files of C or C++, a TypeScript file, or a folder with mayfly.json')
      .argument('[args...]', 'further files of C or C++, then the arguments of the program')
      .requiredOption('-n, --np <ranks>', 'number of ranks', whole(1, 1024))
      .option('-l, --label', "put '[rank] ' before each line of output")
      .option('-q, --quiet', 'no progress line and no hints')
      .option('-f, --file <file>', 'input file for the program, as path or name=path (repeatable)', more)
      .option('-o, --output-dir <folder>', 'write result files there (without a server: default is the current folder)')
      .option('--name <name>', 'name of the job')
      .option('--about <text>', 'what it is for, for the volunteers to read (200 characters)')
      .option('--cc-flags <options>', "options of the compiler for files of C or C++, as one word: '-O3 -DN=100'")
      .addOption(new Option('--protocol <name>', 'fault tolerance').choices(['pessimistic', 'none']))
      .addOption(new Option('--durability <when>', 'sync the log behind the messages, or before they go on').choices(['behind', 'strict']))
      .option('--checkpoint <seconds>', 'checkpoint interval that ranks aim at', seconds)
      .option('--grace <seconds>', 'how long a silent node keeps its ranks', seconds)
      .option('--stuck-after <seconds>', 'try a rank that is not seen to do anything on another node, after so long at least (default: 600)', secondsFrom(1))
      .option('--stuck-factor <times>', '… and so many times the longest pause of any rank of the job (default: 10)', factor)
      .option('--time-limit <seconds>', 'end the job after so long', seconds)
      .option('--env <name=value>', 'environment variable of every rank (repeatable); also -env, -genv, -x', more)
      .option('--room <code>', 'run only on volunteers of this room')
      .option('--memory <size>', 'what one rank may use, as 512M or 2G', size)
      .option('--seed <n>', "seed of the job's random draws, to repeat a run", whole(0, 2 ** 48 - 1)),
  )
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Standard input goes to rank 0. Ctrl-C cancels the job, a second one leaves at once. With no server named, a server and
headless nodes are started on this machine for this one job.

  mayfly mpicc -O3 pi.c -o pi && mayfly mpiexec -n 4 ./pi 1000000
  mayfly mpiexec -n 4 --cc-flags '-O3' main.c util.c 1000000
  mayfly mpiexec -n 4 pi.ts 1000000
  mayfly mpiexec -n 4 --file 1138_bus.mtx cg.ts --matrix 1138_bus.mtx
  mayfly mpiexec --server https://class.example:7070 --token … -n 16 -l heat.ts < parameters.txt
${EXIT_HELP}`,
    )
    .action(act(async (file: string, args: string[], { np, ...o }: { np: number }) => (await import('./commands/mpiexec.ts')).mpiexec(file, args, { ...o, n: np })));

  serving(program.command('server').description('run a server'), './mayfly-data').action(act(async (o: ServerCommandOptions) => (await serverCommands()).server(o)));
  serving(program.command('start').description('run a server for a first look: next free port from 7070, a fresh token in the link'), './mayfly-data').action(act(async (o: ServerCommandOptions) => (await serverCommands()).start(o)));

  program
    .command('volunteer')
    .description('offer this machine as a node, without a window')
    .argument('[url]', 'the server')
    .option('-s, --slots <n>', 'ranks that it takes at the same time (default: cores − 1)', whole(1, 256))
    .option('--name <name>', 'how the node is called (default: host name)')
    .option('--room <code>', 'join code of the room')
    .option('--allow-typescript', 'also take jobs in TypeScript. Only for jobs of people whom you trust with this machine: see below')
    .option('--browser [path]', "run the server's volunteer page in an installed Chrome, Chromium, Edge or Firefox without a window; =path or =name: in this one")
    .option('--no-browser-sandbox', 'with --browser: use Chromium also where it has no sandbox (as root)')
    .option('--insecure', 'accept a certificate that the server made itself')
    .addOption(new Option('--sandbox <kind>', "what stands around jobs: bubblewrap (Linux), a process with Node's permission model, nothing").choices(['auto', 'bwrap', 'process', 'none']).default('auto'))
    .option('--nice <n>', 'how far jobs step back behind other programs of this machine', whole(0, 19), 10)
    .option('--check', 'try what protects this machine, and say what to install for more; needs no server')
    .addHelpText('after', VOLUNTEER_HELP)
    .action(
      act(async (url: string | undefined, { browser, ...o }: VolunteerOptions & BrowserVolunteerOptions & { browser?: string }) =>
        browser === undefined || o.check ? (await import('./commands/volunteer.ts')).volunteer(url, o) : (await import('./commands/volunteer-browser.ts')).browserVolunteer(url, browser, o),
      ),
    );

  const group = program.command('jobs').description('look at jobs and their output');
  connected(group.command('list', { isDefault: true }).description('all jobs, newest first').option('--json', 'as JSON')).action(act(async (o: ConnectionOptions & { json?: boolean }) => (await jobs()).list(o)));
  connected(group.command('show').description('one job: ranks, faults, result files').argument('<id>').option('--json', 'as JSON')).action(act(async (id: string, o: ConnectionOptions & { json?: boolean }) => (await jobs()).show(id, o)));
  connected(group.command('cancel').description('end jobs').argument('<id...>')).action(act(async (ids: string[], o: ConnectionOptions) => (await jobs()).cancel(ids, o)));
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
  connected(group.command('rm').description('forget ended jobs, with their output').argument('<id...>')).action(act(async (ids: string[], o: ConnectionOptions) => (await jobs()).remove(ids, o)));

  connected(
    program
      .command('checkpoint')
      .description('have every rank of a job take an image now (at its next MPI call), and wait for the images')
      .argument('<job>')
      .option('-t, --task <rank>', 'of one rank only', whole(0, 1023))
      .option('--no-wait', 'only ask for them')
      .option('--timeout <seconds>', 'stop waiting after so long (the images are still asked for)', seconds),
  ).action(act(async (id: string, o: CheckpointOptions) => (await import('./commands/checkpoint.ts')).checkpoint(id, o)));

  connected(
    program
      .command('verify')
      .description('run an ended job once more and compare all output byte for byte; 0 when it is equal (docs/trust.md says what that means)')
      .argument('<job>')
      .option('--room <code>', 'the second run on volunteers of this room'),
  ).action(act(async (id: string, o: VerifyOptions) => (await import('./commands/verify.ts')).verify(id, o)));

  connected(program.command('report').description('the report of a run: ranks, nodes, lost ranks with their recovery, hashes of what it wrote, and whether other runs of it wrote the same').argument('<job>').option('--json', 'as JSON, as GET /api/jobs/<id>/report has it')).action(
    act(async (id: string, o: ConnectionOptions & { json?: boolean }) => (await import('./commands/report.ts')).report(id, o)),
  );

  const tokens = program.command('token').description('tokens for others: who may look, submit, or own the server (needs the token of an owner)');
  connected(
    tokens
      .command('create')
      .description('make a token; it is printed now and never again')
      .argument('<name>', 'stands beside the jobs that are submitted with it')
      .addOption(new Option('-r, --role <role>', 'viewer: reads. submitter: submits, and manages its own jobs. owner: everything').choices(['viewer', 'submitter', 'owner']).default('submitter'))
      .option('--days <n>', 'it ends by itself after so many days', whole(1, 3650)),
  ).action(act(async (name: string, o: CreateOptions) => (await import('./commands/tokens.ts')).create(name, o)));
  connected(tokens.command('list', { isDefault: true }).description('names, roles, when they were made and last used').option('--json', 'as JSON')).action(
    act(async (o: ConnectionOptions & { json?: boolean }) => (await import('./commands/tokens.ts')).list(o)),
  );
  connected(tokens.command('revoke').description('end tokens at once, and what is connected with them').argument('<name...>', 'name or id')).action(
    act(async (names: string[], o: ConnectionOptions) => (await import('./commands/tokens.ts')).revoke(names, o)),
  );
  connected(
    program
      .command('pause')
      .description('give the slots of a job back: its ranks take images and leave; it goes on with `mayfly resume`')
      .argument('<job>')
      .option('--images <seconds>', 'ranks have so long for an image (default 15); who has none then goes on from the one before, or from the log', seconds)
      .option('--no-wait', 'do not wait until all have left'),
  ).action(act(async (id: string, o: PauseOptions) => (await import('./commands/pause.ts')).pause(id, o)));
  connected(program.command('resume').description('let a paused job go on as soon as there are slots').argument('<job>')).action(act(async (id: string, o: ConnectionOptions) => (await import('./commands/pause.ts')).resume(id, o)));

  connected(program.command('backup').description("take a backup of a server's data directory, jobs running or not; prints its folder on the server's disk")).action(
    act(async (o: ConnectionOptions) => (await import('./commands/backup.ts')).backup(o)),
  );
  program
    .command('restore')
    .description('make a new data directory out of a backup; its jobs go on when a server starts there')
    .argument('<backup>', 'the folder that `mayfly backup` printed')
    .requiredOption('-d, --data-dir <folder>', 'new or empty')
    .action(act(async (from: string, o: { dataDir: string }) => (await import('./commands/backup.ts')).restore(from, o)));

  program
    .command('check')
    .description('verify a data directory that no server uses: every file, with its checksums; exit code 0: healthy, 1: problems, 2: cannot check')
    .argument('<data-dir>')
    .option('--repair', 'restore what can be restored; what cannot stay is moved to damaged/, nothing is deleted')
    .option('--json', 'the result as JSON')
    .action(act(async (dir: string, o: CheckOptions) => (await import('./commands/check.ts')).check(dir, o)));

  // What mayfly.ts has taken before it came here: listed for --help.
  for (const [name, description] of Object.entries(DRIVER_HELP)) program.command(name).description(description).argument('[arguments...]').helpOption(false).allowUnknownOption();
  program
    .command('cmake-toolchain')
    .description('print the path of the CMake toolchain file: cmake -DCMAKE_TOOLCHAIN_FILE=$(mayfly cmake-toolchain) …')
    .action(act(async () => (await import('./commands/cmake-toolchain.ts')).cmakeToolchain()));

  program.command('new').description('a program to start from').argument('<folder>').action(act(async (folder: string) => (await import('./commands/new.ts')).newProgram(folder)));
  program
    .command('demo')
    .description('four tabs, a real matrix, two tabs closed while it computes: is the answer the same?')
    .option('--headless-nodes', 'headless nodes instead of browser tabs')
    .option('--show', 'show the browser')
    .action(act(async (o: DemoOptions) => (await import('./demo/demo.ts')).demo(o)));
  program
    .command('simulate')
    .description('drive the protocol cores through seeds of faults (see --seeds, --seed)')
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
  if (ignored.length > 0 && !own.includes('-q') && !own.includes('--quiet')) process.stderr.write(`mayfly: ignored, because volunteers bring the slots: ${ignored.join(', ')}\n`);
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
    await nameHelp(commands((c) => (code = c)), 'mayfly').parseAsync(habits(process.argv.slice(2)), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommandError) {
      process.stderr.write(`mayfly: ${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof ApiFailure) {
      const places = error.diagnostics.map((d) => `\n  ${d.file}:${d.line}:${d.column} ${d.code}: ${d.message}`);
      process.stderr.write(`mayfly: ${error.message} (${error.code})${places.join('')}\n`);
      return error.status === 401 || error.status === 403 ? Exit.NO_PERMISSION : error.status === 422 || error.status === 400 ? Exit.USAGE : Exit.FAILED;
    }
    // Commander has printed its own message.
    if (error instanceof Error && 'exitCode' in error && 'code' in error && String(error.code).startsWith('commander.')) return error.exitCode === 0 ? 0 : Exit.USAGE;
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
