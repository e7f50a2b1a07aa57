/**
 * The machines of a run: nodes with ranks, checkpoint servers, sites. The network is a complete graph, as the paper's:
 * "It opens one TCP socket per MPI process" (blocking-vs-nonblocking, section 4.1). Mayfly's own star would put one
 * server's link in the way of all messages; NAS BT on 64 processes needs more than a hundred megabytes a step.
 */
import { Random } from '../random.ts';
import { Link } from './network.ts';

export interface PlatformSpec {
  readonly ranks: number;
  /** Ranks on a node, which share its network card. */
  readonly perNode: number;
  /** Checkpoint servers, of each site. */
  readonly servers: number;
  /** bytes/ms of a network card and of a server, each direction. */
  readonly bandwidth: number;
  /** ms, one way. */
  readonly latency: number;
  /** ms and bytes/ms within a node. */
  readonly within: { readonly latency: number; readonly rate: number };
  /** Equally many nodes each; the seed draws which. Between sites a flow gets bytes/ms at most, latency in ms. */
  readonly sites?: { readonly count: number; readonly flow: number; readonly latency: number; readonly seed: number };
}

/** A way for bytes. */
export interface Route {
  readonly links: readonly Link[];
  /** Most for one flow, bytes/ms. */
  readonly own: number;
  /** ms */
  readonly latency: number;
}

export class Platform {
  readonly #up: Link[] = [];
  readonly #down: Link[] = [];
  readonly #servers: Link[] = [];
  /** Of each node: its place in the deal. */
  readonly #order: number[];

  constructor(readonly spec: PlatformSpec) {
    const { ranks, perNode, servers, bandwidth, sites } = spec;
    const nodes = Math.ceil(ranks / perNode);
    this.#order = Array.from({ length: nodes }, (_, n) => n);
    if (sites) {
      const random = Random.named(sites.seed, 'sites');
      for (let n = nodes - 1; n > 0; n--) {
        const other = random.between(0, n);
        [this.#order[n], this.#order[other]] = [this.#order[other]!, this.#order[n]!];
      }
    }
    for (let n = 0; n < nodes; n++) {
      this.#up.push(new Link(`node ${n} up`, bandwidth));
      this.#down.push(new Link(`node ${n} down`, bandwidth));
    }
    const all = servers * (sites?.count ?? 1);
    for (let s = 0; s < all; s++) this.#servers.push(new Link(`server ${s}`, bandwidth, true));
  }

  node(rank: number): number {
    return Math.floor(rank / this.spec.perNode);
  }

  site(rank: number): number {
    return this.#order[this.node(rank)]! % (this.spec.sites?.count ?? 1);
  }

  /** ms, one way. */
  latency(from: number, to: number): number {
    const { within, latency, sites } = this.spec;
    if (this.node(from) === this.node(to)) return within.latency;
    return this.site(from) === this.site(to) ? latency : sites!.latency;
  }

  /** Of a message. */
  route(from: number, to: number): Route {
    const { within, sites } = this.spec;
    const latency = this.latency(from, to);
    if (this.node(from) === this.node(to)) return { links: [], own: within.rate, latency };
    const links = [this.#up[this.node(from)]!, this.#down[this.node(to)]!];
    return { links, own: this.site(from) === this.site(to) ? Infinity : sites!.flow, latency };
  }

  /** Of an image: to a server of its site; the nodes are "distributed equally among the checkpoint servers". */
  toServer(rank: number): Route {
    const { servers, latency, sites } = this.spec;
    const server =
      this.site(rank) * servers + (Math.floor(this.#order[this.node(rank)]! / (sites?.count ?? 1)) % servers);
    return { links: [this.#up[this.node(rank)]!, this.#servers[server]!], own: Infinity, latency };
  }
}
