/**
 * The kinds of faults. Each does its harm to the victim and proves that it was one: a frozen or offline node is waited
 * for until the server has missed it, a clone until the server knows both. What it may cost the job stands beside it.
 */
import type { NodeView } from '@mayfly/wire';
import { ApiError, type Client } from '../client.ts';
import type { HeadlessProcess } from '../nodes/headless.ts';
import type { VolunteerNode } from '../nodes/node.ts';
import type { BrowserTab } from '../nodes/tab.ts';
import type { Served } from '../server.ts';
import { Servers } from '../servers.ts';

export interface Scene {
  client: Client;
  server: Served;
  job: string;
  /** The rank that was drawn; its node is the victim. */
  task: number;
  /** The node's id with the server. */
  node: string;
  /** Every node of the campaign that is there now. */
  nodes: readonly VolunteerNode[];
  /** Resolves when the job's history has a fault of this node since. */
  lost(): Promise<void>;
  draw(): number;
}

interface Common {
  name: string;
  /** What a person would call it. */
  does: string;
  /** Causes that the ranks of the victim may be lost with; none: they must be kept. */
  causes: readonly string[];
  /** Ranks are certainly lost (else the fault did not take place). */
  loses: boolean;
  /** Who is gone: nodes for good, and are replaced; the server for a moment. */
  gone?: 'victim' | 'all' | 'server';
  /** Done by driving the page, which Playwright must be able to. */
  drives?: true;
  /** Needs a server that answers. */
  asks?: true;
  /** Is not over at once: the victim comes back, after moments or after the server's silence. */
  lasts?: 'briefly' | 'long';
  /** Of several servers over one database. */
  shared?: true;
  /** Share of the faults. */
  weight: number;
}
export type Kind =
  | (Common & { on: 'tab'; run(victim: BrowserTab, scene: Scene): Promise<void> })
  | (Common & { on: 'headless'; run(victim: HeadlessProcess, scene: Scene): Promise<void> })
  | (Common & { on: 'any'; run(victim: VolunteerNode, scene: Scene): Promise<void> });

/** undefined while the server is away. */
const nodesOf = (s: Scene): Promise<NodeView[] | undefined> =>
  s.client.nodes().catch((e: unknown) => (e instanceof ApiError ? Promise.reject(e) : undefined));
const stateOf = async (s: Scene): Promise<string | undefined> => {
  const nodes = await nodesOf(s);
  return nodes && (nodes.find((n) => n.id === s.node)?.state ?? 'gone');
};

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 180_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within 180 s: ${what}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}
/** Three heartbeats are missed: it is silent indeed. */
const missed = (s: Scene): Promise<void> =>
  until('the server misses the silenced node', async () => ['suspect', 'gone'].includes((await stateOf(s)) ?? ''));
const back = (s: Scene): Promise<void> => until('the node is back', async () => (await stateOf(s)) === 'here');

/** The original stays what it was, and the copy is a node of its own. */
async function cloned(s: Scene, name: string, copy: () => Promise<() => Promise<void>>): Promise<void> {
  const end = await copy();
  await until('the server knows the original and its copy', async () => {
    const here = ((await nodesOf(s)) ?? []).filter((n) => n.name === name && n.state === 'here');
    return here.length === 2 && here.some((n) => n.id === s.node);
  });
  await end();
}

async function restarted(s: Scene, end: () => Promise<void>): Promise<void> {
  await end();
  await new Promise((r) => setTimeout(r, 300 * s.draw()));
  await s.server.begin();
  await served(s);
}

const servers = ({ server }: Scene): Servers => {
  if (!(server instanceof Servers)) throw new Error('this kind needs --servers');
  return server;
};

async function served(s: Scene): Promise<void> {
  await until('the job is seen again', () =>
    s.client.job(s.job).then(
      () => true,
      () => false,
    ),
  );
}

export const KINDS: Kind[] = [
  {
    name: 'close',
    on: 'tab',
    drives: true,
    does: 'the tab is closed',
    causes: ['goodbye', 'disconnected'],
    loses: true,
    gone: 'victim',
    weight: 13,
    run: (v) => v.close(),
  },
  {
    name: 'reload',
    asks: true,
    lasts: 'briefly',
    on: 'tab',
    drives: true,
    does: 'the tab is reloaded and comes back as the same node',
    causes: ['goodbye', 'disconnected', 'reloaded'],
    loses: true,
    weight: 13,
    run: (v) => v.reload(),
  },
  {
    name: 'finished',
    asks: true,
    lasts: 'briefly',
    on: 'tab',
    drives: true,
    does: 'the person presses "Finish this step and leave"; the tab takes last images of its ranks and closes',
    causes: ['goodbye', 'disconnected'],
    loses: true,
    gone: 'victim',
    weight: 5,
    run: (v) => v.finish(),
  },
  {
    name: 'paused',
    asks: true,
    lasts: 'briefly',
    on: 'tab',
    drives: true,
    does: 'the person presses "Pause" and, once the tab has given its ranks back, "Resume"',
    causes: ['goodbye', 'disconnected'],
    loses: true,
    weight: 4,
    run: (v) => v.pause(),
  },
  {
    name: 'crash',
    on: 'tab',
    drives: true,
    does: 'the renderer of the page crashes',
    causes: ['disconnected'],
    loses: true,
    gone: 'victim',
    weight: 10,
    run: (v) => v.crash(),
  },
  {
    name: 'browser-killed',
    on: 'tab',
    does: 'SIGKILL of the whole browser',
    causes: ['disconnected'],
    loses: true,
    gone: 'victim',
    weight: 8,
    run: (v) => v.kill(),
  },
  {
    name: 'frame-killed',
    asks: true,
    lasts: 'briefly',
    on: 'tab',
    does: "SIGKILL of the sandboxed frame's process, as when a program takes all memory; the page stays",
    causes: ['crashed'],
    loses: true,
    weight: 2,
    async run(v, s) {
      // A rank that has just been given to it has no process yet.
      await until('the tab has a frame that runs ranks', () => Promise.resolve(v.killFrame()));
      await s.lost();
    },
  },
  {
    name: 'offline',
    lasts: 'briefly',
    on: 'tab',
    does: 'the network of the tab is gone until the server misses it, then comes back',
    causes: ['silent'],
    loses: false,
    weight: 4,
    async run(v, s) {
      await v.setOffline(true);
      await missed(s);
      await v.setOffline(false);
      await back(s);
    },
  },
  {
    name: 'offline-long',
    lasts: 'long',
    on: 'tab',
    does: 'the network is gone until the server gives the ranks up; then the tab returns with them',
    causes: ['silent', 'disconnected'],
    loses: true,
    weight: 2,
    async run(v, s) {
      await v.setOffline(true);
      await s.lost();
      await v.setOffline(false);
      await back(s);
    },
  },
  {
    name: 'clone-tab',
    asks: true,
    lasts: 'briefly',
    on: 'tab',
    drives: true,
    does: 'the tab is duplicated, with its session storage',
    causes: [],
    loses: false,
    weight: 4,
    run: (v, s) => cloned(s, v.name, () => v.duplicate()),
  },
  {
    name: 'clone-identity',
    asks: true,
    lasts: 'briefly',
    on: 'tab',
    drives: true,
    does: 'another browser profile connects with a copy of the identity',
    causes: [],
    loses: false,
    weight: 4,
    run: (v, s) => cloned(s, v.name, () => v.impersonate()),
  },
  {
    name: 'killed',
    on: 'headless',
    does: 'SIGKILL',
    causes: ['disconnected'],
    loses: true,
    gone: 'victim',
    weight: 11,
    run: (v) => v.kill(),
  },
  {
    name: 'stopped',
    on: 'headless',
    does: 'SIGTERM: it says goodbye',
    causes: ['goodbye', 'disconnected'],
    loses: true,
    gone: 'victim',
    weight: 7,
    run: (v) => v.stop(),
  },
  {
    name: 'frozen',
    lasts: 'briefly',
    on: 'any',
    does: 'SIGSTOP of every process of the node until the server misses it, then SIGCONT',
    causes: ['silent'],
    loses: false,
    weight: 5,
    async run(v, s) {
      await v.freeze();
      await missed(s);
      v.thaw();
      await back(s);
    },
  },
  {
    name: 'zombie',
    lasts: 'long',
    on: 'any',
    does: 'SIGSTOP until the server gives the ranks up, then SIGCONT: the old ranks return with open sockets',
    causes: ['silent', 'disconnected'],
    loses: true,
    weight: 4,
    async run(v, s) {
      await v.freeze();
      await s.lost();
      v.thaw();
      await back(s);
    },
  },
  {
    name: 'rank-killed',
    asks: true,
    on: 'any',
    does: 'the kill button on one rank',
    causes: ['killed'],
    loses: true,
    weight: 7,
    async run(_v, s) {
      // A rank that is still on its way there cannot be killed yet, and may go elsewhere.
      await until('the rank is killed, or not there any more', async () => {
        const struck = await s.client.json('POST', `/api/jobs/${s.job}/tasks/${s.task}/kill`).then(
          () => true,
          (e: unknown) => (e instanceof ApiError && e.status === 409 ? false : Promise.reject(e)),
        );
        return struck || (await s.client.job(s.job)).tasks[s.task]!.node !== s.node;
      });
      await s.lost();
    },
  },
  {
    name: 'everybody',
    on: 'any',
    does: 'every node is killed at once',
    causes: ['disconnected'],
    loses: true,
    gone: 'all',
    weight: 2,
    async run(_v, s) {
      await Promise.all(s.nodes.map((n) => n.kill()));
    },
  },
  {
    name: 'server-killed',
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'kill -9 of the server, and a new one on its data',
    causes: [],
    loses: false,
    weight: 8,
    run: (_v, s) => restarted(s, () => s.server.kill9()),
  },
  {
    name: 'server-stopped',
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'SIGTERM of the server, and a new one on its data',
    causes: [],
    loses: false,
    weight: 3,
    run: (_v, s) => restarted(s, () => s.server.down()),
  },
  {
    name: 'server-frozen',
    shared: true,
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'SIGSTOP of the server that serves until another one has taken over, then SIGCONT',
    causes: [],
    loses: false,
    weight: 6,
    async run(_v, s) {
      await servers(s).freeze();
      await served(s);
    },
  },
  {
    name: 'standby-killed',
    shared: true,
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'kill -9 of a server that stands by and has Channel Memories, and a new one',
    causes: [],
    loses: false,
    weight: 6,
    run: (_v, s) => restarted(s, () => servers(s).killStandBy()),
  },
  {
    name: 'standby-stopped',
    shared: true,
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'SIGTERM of a server that stands by and has Channel Memories, and a new one',
    causes: [],
    loses: false,
    weight: 3,
    run: (_v, s) => restarted(s, () => servers(s).endStandBy()),
  },
  {
    name: 'standby-frozen',
    shared: true,
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'SIGSTOP of a server that stands by until the one that serves has its Channel Memories again, then SIGCONT',
    causes: ['silent'],
    loses: false,
    weight: 4,
    async run(_v, s) {
      await servers(s).freezeStandBy();
      await served(s);
    },
  },
  {
    name: 'connections-broken',
    shared: true,
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'the database closes every connection of the servers',
    causes: [],
    loses: false,
    weight: 8,
    async run(_v, s) {
      await servers(s).database.breakConnections();
      await served(s);
    },
  },
  {
    name: 'database-crashed',
    shared: true,
    gone: 'server',
    lasts: 'briefly',
    on: 'any',
    does: 'the database crashes and recovers',
    causes: [],
    loses: false,
    weight: 4,
    async run(_v, s) {
      await servers(s).database.crash();
      await served(s);
    },
  },
];

export const kindOf = (name: string): Kind => {
  const kind = KINDS.find((k) => k.name === name);
  if (!kind) throw new Error(`unknown fault kind: ${name}; there are ${KINDS.map((k) => k.name).join(', ')}`);
  return kind;
};
