/**
 * A member of a parity group, at the node of its rank: brings each new image into the checksums of all holders.
 * Two-phase: every holder prepares the change, then each applies it.
 *
 * Owns: the number of the image in the checksums (`stable`), the number of the image on its way (`pending`), and how
 * far each holder is. The host owns the images' bytes and makes the changes of pages from them.
 *
 * The host performs effects in their order; `keep` is durable before anything that follows it leaves.
 *
 *  Z2 A change is applied by a holder only after all holders have prepared it.
 *  Z3 The old image stays until all holders have applied the change; the new one is durable before the first holder
 *     hears of it.
 *  Z5 Under a wave, holders apply only after the wave's record says so: the member reports `prepared` and waits for
 *     `decided`. Without waves the member decides when all have prepared.
 *
 * One image is on its way at a time. A newer one waits, and replaces one that waits.
 */

export type MemberEvent =
  /** The rank has taken an image; its number rises. */
  | { readonly kind: 'image'; readonly version: number }
  | { readonly kind: 'prepared'; readonly holder: number; readonly version: number }
  | { readonly kind: 'applied'; readonly holder: number; readonly version: number }
  /** The wave's record is durable (Z5). */
  | { readonly kind: 'decided'; readonly version: number }
  /** The wave was given up before its record. */
  | { readonly kind: 'dropped'; readonly version: number }
  /** A connection to the holder begins; what was sent on the one before may be lost. */
  | { readonly kind: 'connected'; readonly holder: number }
  /** The dispatcher has taken the holder out of the group. */
  | { readonly kind: 'holder-lost'; readonly holder: number }
  /** A new holder, with an empty checksum: it needs this member's image first (Z6). */
  | { readonly kind: 'holder-new'; readonly holder: number; readonly round: number }
  /** The new holder has this member's image in its checksum. */
  | { readonly kind: 'encoded'; readonly holder: number; readonly version: number };

export type MemberEffect =
  | { readonly kind: 'keep'; readonly version: number }
  /** Coefficient · the whole image, for a new holder. */
  | { readonly kind: 'send-image'; readonly holder: number; readonly version: number }
  /** Coefficient of (holder, member) · (old ⊕ new) of the pages that differ, and the new manifest. */
  | { readonly kind: 'send-change'; readonly holder: number; readonly base: number; readonly version: number }
  | { readonly kind: 'send-apply'; readonly holder: number; readonly version: number }
  | { readonly kind: 'send-drop'; readonly holder: number; readonly version: number }
  /** To the checkpoint scheduler (Z5). */
  | { readonly kind: 'report-prepared'; readonly version: number }
  /** All holders have it: level 1 protects this image. */
  | { readonly kind: 'report-protected'; readonly version: number }
  /** Z6, to the dispatcher: the new holder can show whatever the other holders show of this member. */
  | { readonly kind: 'report-joined'; readonly holder: number; readonly round: number }
  | { readonly kind: 'forget'; readonly version: number };

/** `new`: has not even the stable image. */
type Progress = 'new' | 'sent' | 'prepared' | 'applied';

export interface MemberOptions {
  readonly holders: readonly number[];
  /** The image that the checksums contain: 0 is an image without pages. */
  readonly stable: number;
  /** Who decides that holders apply. */
  readonly decides: 'member' | 'wave';
}

export class ParityMember {
  #stable: number;
  #pending:
    | {
        readonly version: number;
        /** Holders may apply it. */
        decided: boolean;
        /** All holders had prepared it: nothing takes the decision back. */
        reported: boolean;
        ordered: boolean;
        readonly at: Map<number, Progress>;
      }
    | undefined;
  #waiting: number | undefined;
  readonly #holders: Set<number>;
  /** Holders that have not confirmed the stable image. */
  readonly #new = new Set<number>();
  /**
   * Holders that the dispatcher does not count yet, with its round. While a change is `reported`, another holder may
   * have applied it already: then a new one has no image in common with it until it has done so, too.
   */
  readonly #joining = new Map<number, number>();
  readonly #decides: MemberOptions['decides'];

  constructor(options: MemberOptions) {
    this.#stable = options.stable;
    this.#holders = new Set(options.holders);
    this.#decides = options.decides;
  }

  get stable(): number {
    return this.#stable;
  }

  /** The images that it has (Z3): what a recovery may ask for. */
  get images(): readonly number[] {
    return this.#pending ? [this.#stable, this.#pending.version] : [this.#stable];
  }

  step(event: MemberEvent): MemberEffect[] {
    switch (event.kind) {
      case 'image':
        if (event.version <= (this.#waiting ?? this.#pending?.version ?? this.#stable)) return [];
        if (this.#pending) {
          const replaced = this.#waiting;
          this.#waiting = event.version;
          return replaced === undefined ? [] : [{ kind: 'forget', version: replaced }];
        }
        return this.#begin(event.version);
      case 'prepared':
        return this.#moved(event, 'sent', 'prepared');
      case 'applied':
        return this.#moved(event, 'prepared', 'applied');
      case 'decided':
        if (this.#pending?.version !== event.version) return [];
        // A decision on what not all have prepared is none.
        if (this.#pending.reported) this.#pending.decided = true;
        return this.#progress();
      case 'dropped':
        return this.#drop(event.version);
      case 'connected':
        return this.#again(event.holder);
      case 'holder-lost':
        this.#holders.delete(event.holder);
        this.#new.delete(event.holder);
        this.#joining.delete(event.holder);
        this.#pending?.at.delete(event.holder);
        return this.#progress();
      case 'holder-new':
        this.#holders.add(event.holder);
        this.#new.add(event.holder);
        this.#joining.set(event.holder, event.round);
        this.#pending?.at.set(event.holder, 'new');
        return this.#again(event.holder);
      case 'encoded':
        return this.#encoded(event.holder, event.version);
    }
  }

  #begin(version: number): MemberEffect[] {
    const at = new Map([...this.#holders].map((h): [number, Progress] => [h, this.#new.has(h) ? 'new' : 'sent']));
    this.#pending = { version, decided: false, reported: false, ordered: false, at };
    const changes = [...this.#holders]
      .filter((holder) => !this.#new.has(holder))
      .map((holder): MemberEffect => ({ kind: 'send-change', holder, base: this.#stable, version }));
    // Z3: durable first.
    return [{ kind: 'keep', version }, ...changes, ...this.#progress()];
  }

  #moved(event: { holder: number; version: number }, from: Progress, to: Progress): MemberEffect[] {
    const { at, version, decided } = this.#pending ?? {};
    if (version !== event.version || at!.get(event.holder) !== from || (to === 'applied' && !decided)) return [];
    at!.set(event.holder, to);
    return this.#progress();
  }

  #progress(): MemberEffect[] {
    const p = this.#pending;
    if (!p) return [];
    const out: MemberEffect[] = [];
    const all = (...progress: Progress[]): boolean => [...p.at.values()].every((x) => progress.includes(x));
    // Z2, Z5.
    if (!p.reported && all('prepared')) {
      p.reported = true;
      if (this.#decides === 'member') p.decided = true;
      else out.push({ kind: 'report-prepared', version: p.version });
    }
    if (p.decided && !p.ordered && all('prepared')) {
      p.ordered = true;
      for (const holder of p.at.keys()) out.push({ kind: 'send-apply', holder, version: p.version });
    }
    if (!p.ordered || !all('applied')) return out;
    // Z3: from here on nobody needs the old one.
    out.push({ kind: 'report-protected', version: p.version }, { kind: 'forget', version: this.#stable });
    this.#stable = p.version;
    return [...out, ...this.#next()];
  }

  #next(): MemberEffect[] {
    this.#pending = undefined;
    const next = this.#waiting;
    this.#waiting = undefined;
    return [...this.#joined(), ...(next === undefined ? [] : this.#begin(next))];
  }

  #drop(version: number): MemberEffect[] {
    const p = this.#pending;
    if (p?.version !== version || p.decided) return [];
    const drops = [...p.at.keys()].map((holder): MemberEffect => ({ kind: 'send-drop', holder, version }));
    return [...drops, { kind: 'forget', version }, ...this.#next()];
  }

  /** Repeats what the holder may not have heard; a holder takes the same order twice. */
  #again(holder: number): MemberEffect[] {
    const p = this.#pending;
    if (this.#new.has(holder)) return [{ kind: 'send-image', holder, version: this.#stable }];
    const at = p?.at.get(holder);
    if (!p || at === undefined || at === 'applied') return [];
    if (at === 'sent') return [{ kind: 'send-change', holder, base: this.#stable, version: p.version }];
    return p.ordered ? [{ kind: 'send-apply', holder, version: p.version }] : [];
  }

  #encoded(holder: number, version: number): MemberEffect[] {
    if (version !== this.#stable || !this.#new.delete(holder)) return [];
    if (!this.#pending) return this.#joined();
    this.#pending.at.set(holder, 'sent');
    return [...this.#again(holder), ...(this.#pending.reported ? [] : this.#joined())];
  }

  /** Holders whose checksum has the stable image, and of which the dispatcher has not heard. */
  #joined(): MemberEffect[] {
    const out = [...this.#joining].filter(([h]) => !this.#new.has(h));
    for (const [h] of out) this.#joining.delete(h);
    return out.map(([holder, round]) => ({ kind: 'report-joined', holder, round }));
  }
}
