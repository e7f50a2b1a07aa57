/** Rules undone, after the list UNDO of the random model that the rules were found with. */
import { encodeDeterminants, type TaskId } from '@mayfly/wire';
import { LIVE } from '../../src/endpoint.ts';
import { TeamEndpoint } from '../../src/pessimistic/teams/endpoint.ts';
import { ImageCut, type InRing } from '../../src/pessimistic/teams/image-cut.ts';
import type { PrologueCopies } from '../../src/pessimistic/teams/prologue.ts';
import { TeamLeaves, type Member } from '../../src/pessimistic/teams/leaves.ts';

/** What a run breaks on purpose: cores with a rule undone, or a host that does not do its part. */
export interface Planted {
  readonly endpoint?: typeof TeamEndpoint;
  readonly cut?: typeof ImageCut;
  readonly copies?: typeof PrologueCopies;
  /** A script consumes what stands behind a marker, and takes its image all the same. */
  readonly passesMarkers?: true;
  readonly leaves?: typeof TeamLeaves;
  readonly suppressesLocal?: true;
  readonly publishesFirst?: true;
  readonly readsFirst?: true;
  readonly restartsOne?: true;
  readonly fencesSingly?: true;
  readonly singleImages?: true;
  readonly trimsBySingle?: true;
  readonly countsStay?: true;
  readonly regroupsEarly?: true;
  readonly goesOn?: true;
  readonly dropsCarried?: true;
  /** Of a regrouping, how far the logs are is forgotten. */
  readonly withoutGate?: true;
  readonly withoutPlaces?: true;
  readonly doneStays?: true;
  readonly wavesInReplay?: true;
  readonly completesDeclined?: true;
}

class AnyOrder extends TeamEndpoint {
  protected override gated(): boolean {
    return false;
  }
  override isNext(): boolean {
    return true;
  }
  protected override inOrder(): void {
    // Whatever comes first.
  }
}
class Unrecorded extends TeamEndpoint {
  protected override choose(): void {
    // Nobody will know.
  }
}
class NoEvidence extends TeamEndpoint {
  protected override behindEvidence(): boolean {
    return false;
  }
}
class PollAsWait extends TeamEndpoint {
  protected override choose(src: TaskId): void {
    if (this.poll === LIVE) this.recordLocal({ type: 'local', src, count: 1, after: this.consumed });
    else super.choose(src);
  }
}
class CarriedFirst extends TeamEndpoint {
  protected override dueNow(): boolean {
    return true;
  }
  protected override inOrder(): void {
    // The one that is here.
  }
}

class NoMarkers<M> extends ImageCut<M> {
  override cut(wave: number): TaskId[] {
    super.cut(wave);
    for (const src of this.mates) this.noRing(src);
    return [];
  }
  protected override begins(): number {
    return 0;
  }
}
class NoState<M> extends ImageCut<M> {
  protected override record(src: TaskId, items: readonly InRing<M>[]): void {
    super.record(
      src,
      items.filter((i) => 'marker' in i),
    );
  }
}
/** What was moved past a marker counts as if it stood before it. */
class PastMarker<M> extends ImageCut<M> {
  protected override record(src: TaskId, items: readonly InRing<M>[]): void {
    super.record(src, [...items.filter((i) => 'message' in i), ...items.filter((i) => 'marker' in i)]);
  }
}

const EMPTY = encodeDeterminants({ first: 0, consumed: 0, openPolls: 0, entries: [] });
class OwnOnly extends TeamLeaves {
  protected override block(m: Member, own: boolean): Uint8Array {
    return own ? super.block(m, own) : EMPTY;
  }
}
class OwnEvidence extends TeamLeaves {
  protected override block(m: Member, own: boolean): Uint8Array {
    if (own) return super.block(m, own);
    return m.store.allLogged ? EMPTY : m.store.block(0, 0);
  }
}

export const PLANTED: Record<string, Planted> = {
  'T1: only the lost rank restarts': { restartsOne: true },
  'T1: members are fenced and answered one by one': { fencesSingly: true },
  'T2: a local message overtakes an older remote one': { endpoint: AnyOrder },
  'T3: no local determinants': { endpoint: Unrecorded },
  'T3: a replay ignores the evidence of arrivals': { endpoint: NoEvidence },
  'T3: a poll that took a local message is recorded as a wait': { endpoint: PollAsWait },
  'T4: published, then reported': { publishesFirst: true },
  "T5: only the sender's determinants and evidence": { leaves: OwnOnly },
  "T5: only the sender's evidence of arrivals and tests": { leaves: OwnEvidence },
  'T5: reports are read before the frame is taken': { readsFirst: true },
  'T6: no markers': { cut: NoMarkers },
  'T6: no channel state': { cut: NoState },
  'T6: what was moved past a marker is channel state': { cut: PastMarker },
  'T6: a set is completed one by one': { singleImages: true },
  'T6: trimmed by a single image': { trimsBySingle: true },
  'T6: a wave is complete without a member that declined': { completesDeclined: true },
  'T7: local messages are suppressed in a replay': { suppressesLocal: true },
  'T9: counts are not raised': { countsStay: true },
  'T9: teams are regrouped before a replay has ended': { regroupsEarly: true, wavesInReplay: true },
  'T9: ranks go on after the image': { goesOn: true },
  'T9: channel state is consumed first, whatever its number': { endpoint: CarriedFirst },
  'T9: a local message does not wait for the log up to the merge': { withoutGate: true },
  'T9: what is carried over does not wait for the log': { withoutPlaces: true },
  'T9: channel state is not carried over': { dropsCarried: true },
  'T12: a rank whose exit is logged is not restarted': { doneStays: true },
};
