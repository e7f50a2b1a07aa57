/** `mayfly volunteer <url>`: this machine as a node, without a browser, until a signal comes. */
import { availableParallelism, hostname } from 'node:os';
import { startHeadlessNode, type VolunteerSnapshot } from '@mayfly/node/headless';
import { CommandError, Exit } from '../exit-codes.ts';
import { interrupted } from '../signals.ts';
import { NO_URL, protection, volunteerCheck, type SandboxOptions } from './volunteer-check.ts';
import { say, warn } from '../terminal.ts';

export interface VolunteerOptions extends SandboxOptions {
  check?: boolean;
  slots?: number;
  name?: string;
  room?: string;
  insecure?: boolean;
  allowTypescript?: boolean;
}

export async function volunteer(server: string | undefined, options: VolunteerOptions): Promise<number> {
  if (options.check) return volunteerCheck(options);
  if (server === undefined) throw new CommandError(NO_URL, Exit.USAGE);
  // A volunteer is a guest: one core is left to the machine's owner.
  const slots = options.slots ?? Math.max(1, availableParallelism() - 1);
  if (options.insecure) process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const name = (options.name ?? hostname()).slice(0, 80);
  const { sandbox = 'auto', nice, room, allowTypescript: allowTypeScript = false } = options;
  const news = new News(server);
  const node = await startHeadlessNode({
    server: server.replace(/\/+$/, ''),
    slots,
    name,
    allowTypeScript,
    sandbox,
    ...(nice === undefined ? {} : { nice }),
    ...(room === undefined ? {} : { room }),
    onChange: (snapshot) => news.see(snapshot),
  });
  news.welcomed();
  const what = allowTypeScript ? '' : ' for C and C++ programs (WebAssembly)';
  say(
    `"${name}" offers ${slots} slot${slots === 1 ? '' : 's'}${what} to ${server}; press Ctrl-C to ` +
      `stop\n${protection(node.sandbox)}`,
  );
  await interrupted();
  await node.close();
  return Exit.OK;
}

/** Says when the server goes and comes back, each once. */
class News {
  #away = false;
  #wasThere = false;

  constructor(private readonly server: string) {}

  /** It has welcomed the node, and the command says what that offers. */
  welcomed(): void {
    this.#wasThere = true;
    this.#away = false;
  }

  see({ phase, reason }: VolunteerSnapshot): void {
    const there = phase === 'idle' || phase === 'working';
    // The first attempt of all is no news.
    const away = phase === 'connecting' && (this.#wasThere || reason !== 'connecting to the server');
    if (away && !this.#away) warn(`${this.server} does not answer; trying until it does (Ctrl-C stops)`);
    if (there && this.#away && this.#wasThere) warn(`${this.server} answers`);
    this.#away = away || (this.#away && !there);
  }
}
