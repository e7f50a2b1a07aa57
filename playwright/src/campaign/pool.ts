/** The volunteers of a campaign: real tabs and headless processes, always as many as at the start. */
import { HeadlessProcess } from '../nodes/headless.ts';
import type { VolunteerNode } from '../nodes/node.ts';
import { BrowserTab } from '../nodes/tab.ts';

export interface PoolSize {
  tabs: number;
  headless: number;
  slots: number;
}

export class Pool {
  readonly nodes: VolunteerNode[] = [];
  private made = 0;
  private filling: Promise<void> | undefined;

  constructor(
    private readonly url: string,
    private readonly size: PoolSize,
  ) {}

  /** Opens what is missing. */
  full(): Promise<void> {
    return (this.filling ??= this.fill().finally(() => (this.filling = undefined)));
  }

  private async fill(): Promise<void> {
    const missing = (kind: VolunteerNode['kind'], wanted: number): number => wanted - this.nodes.filter((n) => n.kind === kind).length;
    while (missing('tab', this.size.tabs) > 0) this.nodes.push(await BrowserTab.open(this.url, `tab${++this.made}`, this.size.slots));
    while (missing('headless', this.size.headless) > 0) this.nodes.push(await HeadlessProcess.start(this.url, `headless${++this.made}`, this.size.slots));
  }

  /** Between jobs: tabs that cannot be driven any more are replaced. */
  async renew(): Promise<void> {
    for (const n of [...this.nodes]) if (n instanceof BrowserTab && !n.driven) await this.drop(n);
    await this.full();
  }

  find(name: string | undefined): VolunteerNode | undefined {
    return this.nodes.find((n) => n.name === name);
  }

  /** It is gone, or what it is in is not known: another one takes its place. */
  async drop(node: VolunteerNode): Promise<void> {
    const at = this.nodes.indexOf(node);
    if (at >= 0) this.nodes.splice(at, 1);
    await node.dispose();
  }

  async close(): Promise<void> {
    await this.filling?.catch(() => undefined);
    await Promise.all(this.nodes.splice(0).map((n) => n.dispose()));
  }
}
