/** The commands about a server: it, what it has, tokens for it, and its data directory. */
import { Option, type Command } from 'commander';
import { connected, limit, serving, whole, type Act } from './options.ts';
import type { CheckOptions } from '../commands/check.ts';
import type { ServerCommandOptions } from '../commands/server.ts';
import type { SetOptions } from '../commands/quotas.ts';
import type { CreateOptions } from '../commands/tokens.ts';
import type { ConnectionOptions } from '../connection.ts';

const serverCommands = () => import('../commands/server.ts');

export function serverCommand(program: Command, act: Act): void {
  const server = serving(program.command('server').description('run a server'), './mayfly-data').action(
    act(async (o: ServerCommandOptions) => (await serverCommands()).server(o)),
  );
  connected(
    server
      .command('drain')
      .description(
        'of several servers over one database: the one that serves lets another one serve, and stands by; end its ' +
          'process then (needs the token of an owner)',
      ),
  ).action(act(async (o: ConnectionOptions) => (await import('../commands/drain.ts')).drain(o)));
  serving(
    program
      .command('start')
      .description('run a server for a first look: next free port from 7070, a fresh token in the link'),
    './mayfly-data',
  ).action(act(async (o: ServerCommandOptions) => (await serverCommands()).start(o)));
}

export function clusterCommands(program: Command, act: Act): void {
  const cluster = () => import('../commands/cluster.ts');
  type Listed = ConnectionOptions & { json?: boolean };
  connected(
    program.command('nodes').description('list the nodes of a server, and their slots').option('--json', 'as JSON'),
  ).action(act(async (o: Listed) => (await cluster()).nodes(o)));
  connected(
    program.command('rooms').description('list the rooms of a server, newest first').option('--json', 'as JSON'),
  ).action(act(async (o: Listed) => (await cluster()).rooms(o)));
}

export function loginCommands(program: Command, act: Act): void {
  program
    .command('login')
    .description(
      'check a token of a server, and keep both for later commands, in ~/.config/mayfly/config.json; where people ' +
        'sign in, its page /dashboard/me makes the token',
    )
    .argument('<url>', 'the server, or a link to its dashboard with the token')
    .option('--token <token>', 'the token; without it, one line of standard input')
    .option('--insecure', 'accept a self-signed certificate of the server, also later')
    .action(
      act(async (url: string, o: Omit<ConnectionOptions, 'server'>) =>
        (await import('../commands/login.ts')).login(url, o),
      ),
    );
  program
    .command('logout')
    .description('forget the server and the token of `mayfly login`; a token that the dashboard made for it ends')
    .action(act(async () => (await import('../commands/login.ts')).logout()));
}

export function tokenCommands(program: Command, act: Act): void {
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
  ).action(act(async (name: string, o: CreateOptions) => (await import('../commands/tokens.ts')).create(name, o)));
  connected(
    tokens
      .command('list', { isDefault: true })
      .description('list names, roles, creation and last use')
      .option('--json', 'as JSON'),
  ).action(act(async (o: ConnectionOptions & { json?: boolean }) => (await import('../commands/tokens.ts')).list(o)));
  connected(
    tokens
      .command('revoke')
      .description('revoke tokens at once and close their connections')
      .argument('<name...>', 'name or id'),
  ).action(
    act(async (names: string[], o: ConnectionOptions) => (await import('../commands/tokens.ts')).revoke(names, o)),
  );
}

export function quotaCommands(program: Command, act: Act): void {
  const commands = () => import('../commands/quotas.ts');
  const quotas = program
    .command('quota')
    .description('what owners use and may use: slots, jobs, stored bytes (needs the token of an owner to change)');
  connected(
    quotas
      .command('list', { isDefault: true })
      .description('with the token of an owner all owners, else yours')
      .option('--json', 'as JSON'),
  ).action(act(async (o: ConnectionOptions & { json?: boolean }) => (await commands()).list(o)));
  connected(
    quotas
      .command('set')
      .description('set limits of one owner; those that are not named stay as they are')
      .argument('<owner>', 'name of a token')
      .option('--slots <n>', "slots at once; 'none': no limit, 'default': as for all", limit)
      .option('--jobs <n>', 'jobs that wait or run at once; none; default', limit)
      .option('--storage <MB>', 'stored megabytes of files, output and checkpoints; none; default', limit),
  ).action(act(async (owner: string, o: SetOptions) => (await commands()).set(owner, o)));
  connected(
    quotas
      .command('clear')
      .description('back to the limits of all owners (mayfly server --quota-slots, --quota-jobs, --quota-storage)')
      .argument('<owner...>'),
  ).action(act(async (owners: string[], o: ConnectionOptions) => (await commands()).clear(owners, o)));
}

export function dataCommands(program: Command, act: Act): void {
  connected(
    program
      .command('backup')
      .description(
        "take a backup of a server's data directory, jobs running or not; prints its folder on the server's disk",
      ),
  ).action(act(async (o: ConnectionOptions) => (await import('../commands/backup.ts')).backup(o)));
  program
    .command('restore')
    .description('create a new data directory from a backup; its jobs resume when a server starts there')
    .argument('<backup>', 'the folder that `mayfly backup` printed')
    .requiredOption('-d, --data-dir <folder>', 'new or empty')
    .action(
      act(async (from: string, o: { dataDir: string }) => (await import('../commands/backup.ts')).restore(from, o)),
    );

  program
    .command('copy')
    .description(
      'copy ended jobs, tokens, rooms and quotas from a data directory into a database, or back; no server may use ' +
        'either of them, and the source stays as it is',
    )
    .argument('<from>', 'a data directory, or postgres://user@host/database')
    .argument('[to]', 'a new data directory, or a database without data of Mayfly; default: MAYFLY_STORE')
    .action(act(async (from: string, to: string | undefined) => (await import('../commands/copy.ts')).copy(from, to)));

  program
    .command('check')
    .description(
      'check every file and checksum of a data directory that no server uses; exit code 0: healthy, 1: ' +
        'problems, 2: cannot check',
    )
    .argument('<data-dir>')
    .option('--repair', 'restore what can be restored; unusable files move to damaged/, nothing is deleted')
    .option('--json', 'the result as JSON')
    .action(act(async (dir: string, o: CheckOptions) => (await import('../commands/check.ts')).check(dir, o)));
}
