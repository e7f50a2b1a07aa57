/**
 * A network in virtual time: flows over links, each with a capacity that its flows share.
 *
 * Sharing is fair per link, in two levels, so that a change concerns two or three links and not the whole network. A
 * *trunk* (the link of a checkpoint server, a line between sites) divides its capacity equally among its flows. An
 * *edge* (a node's network card, one link for each direction) knows what its flows get elsewhere: a flow that a trunk
 * or its own limit keeps below its share leaves the rest to the others. A flow is as fast as the slowest of its links
 * lets it. Where a message is limited by the card at its other end, the rest is not passed on: such states are short,
 * and max-min fairness would have to look at all flows for each message.
 *
 * Owns: the flows under way. Invariants:
 *  N1 The flows of a link are together never faster than the link.
 *  N2 A flow over links that it has for itself is as fast as its slowest link or its limit.
 */
import type { Agenda } from '../agenda.ts';

export class Link {
  readonly flows: Flow[] = [];

  /** @param capacity bytes/ms */
  constructor(
    readonly name: string,
    readonly capacity: number,
    readonly trunk = false,
  ) {}

  /** Bytes/ms for each of its flows that could use more. */
  share(): number {
    const { flows, capacity } = this;
    const n = flows.length;
    if (this.trunk || n < 2) return capacity / Math.max(1, n);
    let share = capacity / n;
    for (;;) {
      let left = capacity;
      let open = n;
      for (const f of flows)
        if (f.limit < share) {
          left -= f.limit;
          open--;
        }
      if (open === 0) return share;
      const wider = left / open;
      if (wider <= share * (1 + 1e-12)) return share;
      share = wider;
    }
  }
}

export class Flow {
  /** Bytes that have not left, at `since`. */
  left: number;
  since = 0;
  rate = 0;
  /** Bytes/ms that its trunks and its own limit allow. */
  limit: number;
  /** When the agenda looks at it next. */
  wakes = Infinity;
  over = false;

  constructor(
    readonly links: readonly Link[],
    bytes: number,
    readonly own: number,
    readonly done: () => void,
  ) {
    this.left = bytes;
    this.limit = own;
  }
}

/** Bytes that a float may be wrong by. */
const NOTHING = 1e-3;

export class Network {
  constructor(private readonly agenda: Agenda) {}

  /**
   * Sends bytes over links.
   * @param own the most that this flow gets anywhere, bytes/ms
   * @param done its last byte has left; latency comes on top, and is the caller's
   */
  start(links: readonly Link[], bytes: number, done: () => void, own = Infinity): Flow {
    const f = new Flow(links, Math.max(bytes, NOTHING), own, done);
    f.since = this.agenda.now;
    for (const l of links) l.flows.push(f);
    this.changed(links);
    if (links.length === 0) this.rate(f, own);
    return f;
  }

  private changed(links: readonly Link[]): void {
    for (const l of links) {
      if (!l.trunk) continue;
      for (const f of l.flows) {
        const limit = limitOf(f);
        if (limit === f.limit) continue;
        f.limit = limit;
        for (const edge of f.links) if (!edge.trunk && !links.includes(edge)) this.reshare(edge);
        this.rate(f, rateOf(f));
      }
    }
    for (const l of links) if (!l.trunk) this.reshare(l);
  }

  private reshare(l: Link): void {
    for (const f of l.flows) this.rate(f, rateOf(f));
  }

  private rate(f: Flow, rate: number): void {
    if (rate === f.rate) return;
    const { now } = this.agenda;
    f.left -= f.rate * (now - f.since);
    f.since = now;
    f.rate = rate;
    const at = now + Math.max(0, f.left) / rate;
    if (at < f.wakes) this.wake(f, at);
  }

  private wake(f: Flow, at: number): void {
    f.wakes = at;
    this.agenda.after(at - this.agenda.now, () => {
      // A flow that has become faster has been woken earlier; one that has become slower is looked at again.
      if (f.over || f.wakes !== at) return;
      f.left -= f.rate * (this.agenda.now - f.since);
      f.since = this.agenda.now;
      if (f.left > NOTHING) {
        f.wakes = Infinity;
        const again = this.agenda.now + f.left / f.rate;
        // A remainder that the clock cannot tell from now.
        if (again > this.agenda.now) return this.wake(f, again);
      }
      this.end(f);
    });
  }

  private end(f: Flow): void {
    f.over = true;
    for (const l of f.links) {
      const last = l.flows.pop()!;
      if (last !== f) l.flows[l.flows.indexOf(f)] = last;
    }
    this.changed(f.links);
    f.done();
  }
}

function limitOf(f: Flow): number {
  let limit = f.own;
  for (const l of f.links) if (l.trunk) limit = Math.min(limit, l.capacity / l.flows.length);
  return limit;
}

function rateOf(f: Flow): number {
  let rate = f.limit;
  for (const l of f.links) if (!l.trunk) rate = Math.min(rate, l.share());
  return rate;
}
