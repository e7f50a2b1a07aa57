/**
 * A holder of one checksum of a parity group: keeps it durably, with the number of each member's image in it.
 *
 * Owns, durably (`HolderState`): the members' numbers in the checksum, and at most one prepared change for each member.
 * The host owns bytes: the checksum's pages, prepared changes, and the manifest of each image that is named here.
 *
 * Z2 A change that is prepared is durable and whole, and not in the checksum: the holder can show its checksum with or
 *    without it.
 * Z8 What it reports at a hello is what its storage has; an empty storage reports nothing.
 */

/** What is durable; a browser may drop all of it. */
export interface HolderState {
  /** Number of the image of each member in the checksum; undefined: a new holder lacks it still. */
  readonly applied: readonly (number | undefined)[];
  /** Number of each member's image whose change is prepared. */
  readonly prepared: readonly (number | undefined)[];
}

export type HolderEvent =
  /** A member's whole image for a new holder's checksum (Z6). */
  | { readonly kind: 'image'; readonly member: number; readonly version: number }
  /** The change has come whole. */
  | { readonly kind: 'change'; readonly member: number; readonly base: number; readonly version: number }
  | { readonly kind: 'apply'; readonly member: number; readonly version: number }
  | { readonly kind: 'drop'; readonly member: number; readonly version: number }
  /**
   * After a recovery (Z7): the member goes on from that image; what is prepared for it is applied or dropped. Answered
   * by `settled`.
   */
  | { readonly kind: 'settle'; readonly member: number; readonly version: number };

export type HolderEffect =
  /** Stores the change durably, beside the checksum; the effects behind it wait for that. */
  | { readonly kind: 'store'; readonly member: number; readonly version: number }
  /** Adds the prepared change to the checksum, in one durable step with the number; effects behind it wait. */
  | { readonly kind: 'fold'; readonly member: number; readonly version: number }
  /** Adds a whole image to the checksum, in one durable step with the number. */
  | { readonly kind: 'add'; readonly member: number; readonly version: number }
  | { readonly kind: 'send-encoded'; readonly member: number; readonly version: number }
  | { readonly kind: 'discard'; readonly member: number; readonly version: number }
  | { readonly kind: 'send-prepared'; readonly member: number; readonly version: number }
  | { readonly kind: 'send-applied'; readonly member: number; readonly version: number }
  | { readonly kind: 'send-settled'; readonly member: number; readonly version: number }
  /** The change does not fit what is here: the group is not whole (Z6), the dispatcher hears of it. */
  | { readonly kind: 'report-broken'; readonly member: number };

export class ParityHolder {
  readonly #applied: (number | undefined)[];
  readonly #prepared: (number | undefined)[];

  constructor(state: HolderState) {
    this.#applied = [...state.applied];
    this.#prepared = [...state.prepared];
  }

  /** Z8: for a hello. */
  get have(): HolderState {
    return { applied: [...this.#applied], prepared: [...this.#prepared] };
  }

  step(event: HolderEvent): HolderEffect[] {
    const { kind, member, version } = event;
    const applied = this.#applied[member];
    if (kind === 'image') {
      if (applied !== undefined && applied !== version) return [{ kind: 'report-broken', member }];
      this.#applied[member] = version;
      const add: HolderEffect[] = applied === undefined ? [{ kind: 'add', member, version }] : [];
      return [...add, { kind: 'send-encoded', member, version }];
    }
    // What is for another holder, or came before its image: the host's boundary rejects it, and nothing changes here.
    if (applied === undefined) return [];
    const prepared = this.#prepared[member];
    switch (kind) {
      case 'change': {
        if (version === prepared) return [{ kind: 'send-prepared', member, version }];
        if (version <= applied) return [];
        if (event.base !== applied) return [{ kind: 'report-broken', member }];
        const before: HolderEffect[] = prepared === undefined ? [] : [{ kind: 'discard', member, version: prepared }];
        this.#prepared[member] = version;
        return [...before, { kind: 'store', member, version }, { kind: 'send-prepared', member, version }];
      }
      case 'apply':
        if (version === applied) return [{ kind: 'send-applied', member, version }];
        if (version !== prepared) return version < applied ? [] : [{ kind: 'report-broken', member }];
        return [...this.#fold(member, version), { kind: 'send-applied', member, version }];
      case 'drop':
        if (version !== prepared) return [];
        this.#prepared[member] = undefined;
        return [{ kind: 'discard', member, version }];
      case 'settle': {
        const done: HolderEffect = { kind: 'send-settled', member, version };
        if (version === prepared) return [...this.#fold(member, version), done];
        if (version !== applied) return [{ kind: 'report-broken', member }];
        this.#prepared[member] = undefined;
        return [...(prepared === undefined ? [] : [{ kind: 'discard', member, version: prepared } as const]), done];
      }
    }
  }

  #fold(member: number, version: number): HolderEffect[] {
    this.#applied[member] = version;
    this.#prepared[member] = undefined;
    return [{ kind: 'fold', member, version }];
  }
}
