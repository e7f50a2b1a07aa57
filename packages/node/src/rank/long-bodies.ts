/**
 * Bodies of messages that a teammate sends in parts (teammates.ts, N3): they may be looked for long after the message
 * itself. Synchronous.
 *
 * Owns: what has come of them, and copies for an image that records them (T6: "the rest of a body that has begun" is
 * channel state).
 *
 * Invariants
 *  B1 A body is kept from its first part until it is pulled.
 *  B2 While an image records, every body that was not pulled at the image, or that begins on a channel whose state is
 *     recorded, is kept for it, also when it is pulled meanwhile.
 */

/** A message in parts. */
export interface Parts {
  readonly number: number;
  /** Place of the sender in the team. */
  readonly from: number;
  readonly size: number;
  got: number;
  /** Where the parts go; undefined: none was taken. */
  into: Uint8Array | undefined;
  /** A copy for the image; undefined: it was not pulled. */
  copy?: Uint8Array;
}

export class LongBodies {
  private readonly open = new Map<number, Parts>();
  private recorded = new Map<number, Parts>();
  /** Of the messages whose bodies were not looked for. */
  bytes = 0;

  /** `records`: it belongs to the image under way (B2). */
  begin(number: number, from: number, size: number, records: boolean): Parts {
    const parts: Parts = { number, from, size, got: 0, into: undefined };
    this.open.set(number, parts);
    this.bytes += size;
    if (records) this.recorded.set(number, parts);
    return parts;
  }

  /** Its body goes into `into` now. @throws Error */
  pulled(number: number, into: Uint8Array): Parts {
    const parts = this.open.get(number);
    if (parts?.size !== into.length) throw new Error(`there is no message ${number} of ${into.length} bytes`);
    this.open.delete(number);
    this.bytes -= parts.size;
    if (parts.into) into.set(parts.got === parts.size ? parts.into : parts.into.subarray(0, parts.got));
    parts.into = into;
    return parts;
  }

  /** …and is whole there. */
  whole(parts: Parts): void {
    if (this.recorded.get(parts.number) === parts) parts.copy = parts.into!.slice();
  }

  /** B2: an image begins to record; nothing recorded before is of use. */
  record(): void {
    this.recorded = new Map(this.open);
  }

  /** The bodies of the image, by number. */
  take(): Map<number, Uint8Array> {
    const bodies = new Map<number, Uint8Array>();
    for (const [number, { size, got, copy, into }] of this.recorded) {
      if (got !== size) throw new Error(`the body of message ${number} of an image has ${got} of ${size} bytes`);
      bodies.set(number, copy ?? into!);
    }
    this.recorded = new Map();
    return bodies;
  }

  forget(): void {
    this.recorded = new Map();
  }

  /** Whole bodies of an image. */
  restore(bodies: ReadonlyMap<number, Uint8Array>): void {
    for (const [number, body] of bodies) {
      this.open.set(number, { number, from: -1, size: body.length, got: body.length, into: body });
      this.bytes += body.length;
    }
  }
}
