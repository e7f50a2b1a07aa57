/** `mayfly token create | list | revoke`. */
import type { Role } from '@mayfly/wire';
import type { ConnectionOptions } from '../connection.ts';
import { CommandError, Exit } from '../exit-codes.ts';
import { table } from '../table.ts';
import { withClient } from '../with-client.ts';
import { json, say, sayLine, warn } from '../terminal.ts';

export interface CreateOptions extends ConnectionOptions {
  role: Role;
  days?: number;
}

const DAY_MS = 24 * 3600 * 1000;
const when = (ms: number | undefined, none: string): string =>
  ms === undefined ? none : new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

/** The token alone on standard output, so that a script can take it; what it is on standard error. */
export const create = (name: string, options: CreateOptions): Promise<number> =>
  withClient(options, async (c) => {
    const made = await c.createToken({
      name,
      role: options.role,
      ...(options.days === undefined ? {} : { expiresAt: Date.now() + options.days * DAY_MS }),
    });
    sayLine(made.token);
    warn(
      `a ${made.role}'s token for ${made.name}, ` +
        `${made.expiresAt === undefined ? 'until it is revoked' : `until ${when(made.expiresAt, '')} UTC`}; it ` +
        `is not shown again`,
    );
    return Exit.OK;
  });

export const list = (options: ConnectionOptions & { json?: boolean }): Promise<number> =>
  withClient(options, async (c) => {
    const tokens = await c.tokens();
    if (options.json) say(json(tokens));
    else
      say(
        table([
          ['NAME', 'ROLE', 'MADE (UTC)', 'LAST USED (UTC)', 'ENDS (UTC)', 'LOGIN', 'ID'],
          ...tokens.map((t) => [
            t.name,
            t.role,
            when(t.createdAt, 'first start'),
            when(t.lastUsedAt, 'never'),
            when(t.expiresAt, '–'),
            t.login ?? '',
            t.id ?? '',
          ]),
        ]),
      );
    return Exit.OK;
  });

export const revoke = (names: string[], options: ConnectionOptions): Promise<number> =>
  withClient(options, async (c) => {
    const tokens = await c.tokens();
    const ids = names.map((name) => {
      const found = tokens.find((t) => t.id === name) ?? tokens.find((t) => t.name === name);
      if (!found) throw new CommandError(`no token named ${name}`, Exit.FAILED);
      if (found.id === undefined)
        throw new CommandError(
          "the owner's first token cannot be revoked; replace it: mayfly server --token …",
          Exit.USAGE,
        );
      return found.id;
    });
    for (const id of ids) await c.revokeToken(id);
    return Exit.OK;
  });
