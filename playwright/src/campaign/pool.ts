/** The volunteers of a campaign: real tabs and headless processes, always as many as at the start. */
import { HeadlessProcess } from '../nodes/headless.ts';
import type { VolunteerNode } from '../nodes/node.ts';
import { Browsers, BrowserTab } from '../nodes/tab.ts';
import type { Served } from '../server.ts';

export interface PoolSize {
  tabs: number;
  headless: number;
  /** Of each node; a list: the nodes of each sort take its numbers in turn. */
  slots: number | readonly number[];
}

/** Of nodes that are gone. */
const LINES = 4000;
const wordsOf = (node: VolunteerNode): string[] => node.log.map((line) => `[${node.name}] ${line}`);

export class Pool {
  readonly nodes: VolunteerNode[] = [];
  private readonly browsers = new Browsers();
  private made = 0;
  private readonly opened = { tab: 0, headless: 0 };
  private filling: Promise<void> | undefined;
  private closed = false;
  private failed: unknown;
  private readonly said: string[] = [];

  constructor(
    private readonly server: Served,
    private readonly size: PoolSize,
  ) {}

  /** Opens what is missing. */
  full(): Promise<void> {
    return (this.filling ??= this.fill().finally(() => (this.filling = undefined)));
  }

  private async fill(): Promise<void> {
    const missing = (kind: VolunteerNode['kind'], wanted: number): boolean =>
      this.nodes.filter((n) => n.kind === kind).length < wanted && !this.closed;
    const { url } = this.server;
    const { tabs, headless, slots } = this.size;
    const next = (kind: VolunteerNode['kind']): number =>
      typeof slots === 'number' ? slots : slots[this.opened[kind]++ % slots.length]!;
    await Promise.all([
      (async () => {
        while (missing('tab', tabs))
          await this.add(() => BrowserTab.open(url, `tab${++this.made}`, next('tab'), this.browsers));
      })(),
      (async () => {
        while (missing('headless', headless))
          await this.add(() => HeadlessProcess.start(url, `headless${++this.made}`, next('headless')));
      })(),
    ]);
  }

  /** Who comes while the server is away tries again when it is back. */
  private async add(open: () => Promise<VolunteerNode>): Promise<void> {
    await this.server.whenUp();
    const before = this.server.starts;
    const node = await open().catch((error: unknown) => {
      if (this.server.starts === before && this.server.up) throw error;
      return undefined;
    });
    if (node) this.nodes.push(node);
  }

  /** Between jobs: tabs that cannot be driven any more are replaced. */
  async renew(): Promise<void> {
    for (const n of [...this.nodes]) if (n instanceof BrowserTab && !n.driven) await this.drop(n);
    await this.full();
  }

  find(name: string | undefined): VolunteerNode | undefined {
    return this.nodes.find((n) => n.name === name);
  }

  /** All but so many are here; these are on their way. */
  async ready(missing: number): Promise<void> {
    if (this.failed !== undefined) throw this.failed;
    if (this.nodes.length < this.size.tabs + this.size.headless - missing) await this.full();
    else this.refill();
  }

  private refill(): void {
    this.full().catch((error: unknown) => (this.failed ??= error));
  }

  /** It is about to be gone: another one comes in its place at once. Call the result when it is. */
  lose(node: VolunteerNode): () => Promise<void> {
    this.forget(node);
    this.refill();
    return () => this.bury(node);
  }

  /** What it is in is not known: another one takes its place. */
  async drop(node: VolunteerNode): Promise<void> {
    this.forget(node);
    await this.bury(node);
  }

  private forget(node: VolunteerNode): void {
    const at = this.nodes.indexOf(node);
    if (at >= 0) this.nodes.splice(at, 1);
  }

  private async bury(node: VolunteerNode): Promise<void> {
    await node.dispose();
    this.said.push(...wordsOf(node));
    this.said.splice(0, this.said.length - LINES);
  }

  /** What nodes printed, those that are gone first. */
  get log(): string {
    return [...this.said, ...this.nodes.flatMap(wordsOf)].join('\n');
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.filling?.catch(() => undefined);
    await Promise.all(this.nodes.splice(0).map((n) => n.dispose()));
    await this.browsers.close();
  }
}
