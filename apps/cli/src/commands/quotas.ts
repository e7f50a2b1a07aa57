/** `mayfly quota list | set | clear`. */
import { ROLES, type QuotaView, type QuotaWish } from '@mayfly/wire';
import type { ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { table } from '../table.ts';
import { withClient } from '../with-client.ts';
import { json, say } from '../terminal.ts';

type Wished = number | null | 'default';
export interface SetOptions extends ConnectionOptions {
  slots?: Wished;
  jobs?: Wished;
  /** MB */
  storage?: Wished;
}

const KINDS = ['slots', 'jobs', 'bytes'] as const;

export const list = (options: ConnectionOptions & { json?: boolean }): Promise<number> =>
  withClient(options, async (c) => {
    const all = (await c.me()).role === ROLES.at(-1);
    const quotas = all ? await c.quotas() : [await c.quota()];
    if (options.json) say(json(quotas));
    else show(quotas);
    return Exit.OK;
  });

/** One request replaces all of an owner's limits: those that are not named here are sent as they were. */
export const set = (owner: string, options: SetOptions): Promise<number> =>
  withClient(options, async (c) => {
    const { slots, jobs, storage } = options;
    const wishes = { slots, jobs, bytes: typeof storage === 'number' ? Math.round(storage * 1e6) : storage };
    if (KINDS.every((kind) => wishes[kind] === undefined))
      throw new CommandError('name a limit: --slots, --jobs or --storage', Exit.USAGE);
    const wish: QuotaWish = { ...(await c.quotas()).find((q) => q.owner === owner)?.own };
    for (const kind of KINDS) {
      const wished = wishes[kind];
      if (wished === 'default') delete wish[kind];
      else if (wished !== undefined) wish[kind] = wished;
    }
    show([await c.setQuota(owner, wish)]);
    return Exit.OK;
  });

export const clear = (owners: string[], options: ConnectionOptions): Promise<number> =>
  withClient(options, async (c) => {
    for (const owner of owners) await c.clearQuota(owner);
    return Exit.OK;
  });

function show(quotas: readonly QuotaView[]): void {
  const of = (used: number, limit: number | undefined, text: (n: number) => string): string =>
    `${text(used)} / ${limit === undefined ? '–' : text(limit)}`;
  say(
    table([
      ['OWNER', 'SLOTS', 'JOBS', 'STORED', 'LIMITS'],
      ...quotas.map(({ owner, used, limits, own }) => [
        owner,
        of(used.slots, limits.slots, String),
        of(used.jobs, limits.jobs, String),
        of(used.bytes, limits.bytes, stored),
        own ? 'own' : Object.keys(limits).length > 0 ? 'as all' : '–',
      ]),
    ]),
  );
}

const stored = (n: number): string =>
  n === 0 ? '0' : n < 1e6 ? `${Math.ceil(n / 1e3)} kB` : `${(n / 1e6).toFixed(n < 10e6 ? 1 : 0)} MB`;
