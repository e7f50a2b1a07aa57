/** `mayfly nodes` and `mayfly rooms`: who offers slots. */
import { Client } from '../client.ts';
import { needConnection, type ConnectionOptions } from '../connection.ts';
import { Exit } from '../exit-codes.ts';
import { table } from '../table.ts';
import { json, say } from '../terminal.ts';

type Options = ConnectionOptions & { json?: boolean };

/** Rows of what the server has, as a table or as JSON. */
async function show<T>(
  options: Options,
  ask: (c: Client) => Promise<T[]>,
  none: string,
  heading: string[],
  row: (t: T) => string[],
): Promise<number> {
  const client = new Client(await needConnection(options));
  try {
    const all = await ask(client);
    const text = options.json ? json(all) : all.length === 0 ? none : table([heading, ...all.map(row)]);
    say(text);
    return Exit.OK;
  } finally {
    await client.close();
  }
}

export const nodes = (options: Options): Promise<number> =>
  show(
    options,
    (c) => c.nodes(),
    'no nodes',
    ['ID', 'NAME', 'STATE', 'BUSY', 'SLOTS', 'ROOM', 'RUNS', 'ENGINE'],
    (n) => [
      n.id,
      n.name,
      n.quarantinedUntil === undefined ? n.state : 'quarantined',
      String(n.busy),
      String(n.slots),
      n.room ?? '',
      (n.runs ?? []).join(' '),
      n.engine,
    ],
  );

export const rooms = (options: Options): Promise<number> =>
  show(
    options,
    (c) => c.rooms(),
    'no rooms',
    ['CODE', 'NAME', 'NODES', 'FREE', 'SLOTS', 'JOBS'],
    (r) => [r.code, r.name, ...[r.nodes, r.free, r.slots, r.jobs].map(String)],
  );
