/**
 * How well a parity group protects its members: the dispatcher's part. It counts only what is whole, and puts the group
 * right again after a loss.
 *
 * Owns: for each holder whether it is whole, and for each member whether it is.
 *
 *  Z6 A holder that is lost, or whose storage is not what the group needs, does not count. A new one counts once it can
 *     show of every member what the others show.
 *  Z7 A member that was made again counts as lost until every holder has settled its version.
 *  Z8 A holder counts after a hello whose report has every member; what it reported on an earlier connection is void.
 */
import type { HolderState } from './holder.ts';

export type ProtectionEvent =
  | { readonly kind: 'hello'; readonly holder: number; readonly have: HolderState | undefined }
  | { readonly kind: 'holder-lost'; readonly holder: number }
  /** Another node takes the place of a lost holder, with an empty checksum. */
  | { readonly kind: 'holder-new'; readonly holder: number }
  /** From the member. */
  | { readonly kind: 'joined'; readonly holder: number; readonly member: number; readonly round: number }
  | { readonly kind: 'broken'; readonly holder: number }
  | { readonly kind: 'member-lost'; readonly member: number }
  /** The member runs again from that image, on another node. */
  | { readonly kind: 'recovered'; readonly member: number; readonly version: number }
  | { readonly kind: 'settled'; readonly holder: number; readonly member: number; readonly version: number };

export type ProtectionEffect =
  /** To the holder. */
  | { readonly kind: 'send-settle'; readonly holder: number; readonly member: number; readonly version: number }
  /** To the member's node: its `ParityMember` begins with these holders. */
  | { readonly kind: 'begin-member'; readonly member: number; readonly version: number; readonly holders: number[] }
  /** To every living member: the holder takes no part any more. */
  | { readonly kind: 'tell-holder-lost'; readonly holder: number }
  /** To these members: they send their images. */
  | { readonly kind: 'tell-holder-new'; readonly holder: number; readonly round: number; readonly members: number[] };

type Holder =
  | { readonly kind: 'whole' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'new'; round: number; missing: Set<number> };
type Member = { readonly kind: 'whole' | 'lost' } | { readonly kind: 'settling'; version: number; at: Set<number> };

export class Protection {
  readonly #holders: Holder[];
  readonly #members: Member[];
  /** Of new holders: reports of an earlier one in the same place are void. */
  #round = 0;

  /** A group whose holders have confirmed every member's image. */
  constructor(members: number, holders: number) {
    this.#holders = Array.from({ length: holders }, () => ({ kind: 'whole' }));
    this.#members = Array.from({ length: members }, () => ({ kind: 'whole' }));
  }

  /** How many more nodes of the group may be lost at once, at least; below 0: level 1 cannot make all members again. */
  get spare(): number {
    const whole = this.#holders.filter((h) => h.kind === 'whole').length;
    return whole - this.#members.filter((m) => m.kind !== 'whole').length;
  }

  step(event: ProtectionEvent): ProtectionEffect[] {
    switch (event.kind) {
      case 'hello': {
        const { have, holder } = event;
        if (this.#holders[holder]?.kind === 'lost') return [];
        // Z8. A new holder that drops its store begins again as a lost one.
        const whole = have?.applied.every((v) => v !== undefined) && have.applied.length === this.#members.length;
        if (whole) return this.#settleAgain(holder);
        return this.#lost(holder);
      }
      case 'holder-lost':
      case 'broken':
        return this.#lost(event.holder);
      case 'holder-new':
        if (this.#holders[event.holder]?.kind !== 'lost') return [];
        this.#holders[event.holder] = { kind: 'new', round: ++this.#round, missing: new Set(this.#members.keys()) };
        // Members that are being made again hear of it when they begin.
        return [{ kind: 'tell-holder-new', holder: event.holder, round: this.#round, members: this.#living() }];
      case 'joined': {
        const h = this.#holders[event.holder];
        if (h?.kind !== 'new' || h.round !== event.round) return [];
        h.missing.delete(event.member);
        if (h.missing.size === 0) this.#holders[event.holder] = { kind: 'whole' };
        return [];
      }
      case 'member-lost':
        this.#members[event.member] = { kind: 'lost' };
        // A new holder may have an image of it that the recovery does not choose: it begins again.
        return [...this.#holders.keys()].filter((h) => this.#holders[h]!.kind === 'new').flatMap((h) => this.#lost(h));
      case 'recovered': {
        const { member, version } = event;
        if (this.#members[member]?.kind !== 'lost') return [];
        this.#members[member] = { kind: 'settling', version, at: new Set(this.#whole()) };
        return [...this.#whole().map((holder) => settle(holder, member, version)), ...this.#settled(member)];
      }
      case 'settled': {
        const m = this.#members[event.member];
        if (m?.kind !== 'settling' || m.version !== event.version || !m.at.delete(event.holder)) return [];
        return this.#settled(event.member);
      }
    }
  }

  #whole(): number[] {
    return [...this.#holders.keys()].filter((h) => this.#holders[h]!.kind === 'whole');
  }

  #living(): number[] {
    return [...this.#members.keys()].filter((m) => this.#members[m]!.kind === 'whole');
  }

  #lost(holder: number): ProtectionEffect[] {
    if (!this.#holders[holder] || this.#holders[holder]!.kind === 'lost') return [];
    this.#holders[holder] = { kind: 'lost' };
    const out: ProtectionEffect[] = [{ kind: 'tell-holder-lost', holder }];
    for (const [member, m] of this.#members.entries())
      if (m.kind === 'settling' && m.at.delete(holder)) out.push(...this.#settled(member));
    return out;
  }

  /** What was sent on the connection before may be lost. */
  #settleAgain(holder: number): ProtectionEffect[] {
    return [...this.#members.entries()].flatMap(([member, m]) =>
      m.kind === 'settling' && m.at.has(holder) ? [settle(holder, member, m.version)] : [],
    );
  }

  #settled(member: number): ProtectionEffect[] {
    const m = this.#members[member]!;
    if (m.kind !== 'settling' || m.at.size > 0) return [];
    this.#members[member] = { kind: 'whole' };
    const begin: ProtectionEffect = { kind: 'begin-member', member, version: m.version, holders: this.#whole() };
    const fresh = [...this.#holders.entries()].flatMap(([holder, h]): ProtectionEffect[] =>
      h.kind === 'new' ? [{ kind: 'tell-holder-new', holder, round: h.round, members: [member] }] : [],
    );
    return [begin, ...fresh];
  }
}

const settle = (holder: number, member: number, version: number): ProtectionEffect => ({
  kind: 'send-settle',
  holder,
  member,
  version,
});
