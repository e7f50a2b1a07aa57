/**
 * Receivers that had not reported when a new incarnation of a sender began.
 *
 * Owns: per sender, what its acting incarnation learned of its predecessors when it began, and which receivers could
 * have known more.
 *
 * A power loss may take a message and, with it, all that this CM knew of its sender's last events, while the receiver
 * lives and has both. A new incarnation of the sender that is answered before the receiver has reported does not repeat
 * those events, and sends another message under the same number.
 *
 *  F4  What a receiver gives back shows no more of a sender than the sender's acting incarnation learned when it began.
 *      Otherwise the receiver's incarnation is refused, as if its node had not come back. (To wait for the receiver
 *      instead would block all ranks for a node that may never return. The receiver's next incarnation finds out
 *      whether another rank depends on what is lost with it.)
 *  F5  No frame says of a task that it consumed more arrivals than its log has, or that it made events which are not
 *      known, unless the log's end is lost: a false word would end the job at the next restart, as if the disk had lost
 *      what never was. A task's log is split over the Channel Memories of its job: its home counts its arrivals, and
 *      an event lies at whichever of them its frame went to. So each asks the others. Example: task 0 has its home at
 *      CM 0, which logged 3 arrivals and the events 0 to 4. A frame to CM 1 that says "6 consumed" is false, as CM 0
 *      numbers an arrival before it sends it. One that says "7 events before this one" is false, as its sender would
 *      have brought 5 and 6 along (M1), unless CM 0 has lost them and the sender does not know that yet: so CM 1
 *      believes it until the sender has spoken to each Channel Memory that came back.
 *
 * Durable in the sender's SESSION record: the CM may lose its memory once more before the receiver reports.
 */
import { arrivalsFor, eventsOf } from '../channel-memory/holdings.ts';
import { encodeSession, type Evidence } from '../channel-memory/records.ts';
import { protocolError } from '../channel-memory/refuse.ts';
import { append, type State } from '../channel-memory/state.ts';
import type { Attachment, Destination, Source } from '../channel-memory/tasks.ts';

/** `a` attaches; its nonce is `source.nonce`. Logs the incarnation and its nonce if they are new. */
export function beginSession(s: State, source: Source, a: Attachment, isNew: boolean): void {
  if (!a.resume) {
    const receivers = s.destinations.flatMap((d) => (d?.closed === true && d.task !== a.task ? [d.task] : []));
    source.unheard = receivers.length > 0 ? { told: { ...source.evidence }, receivers: new Set(receivers) } : undefined;
  }
  if (isNew || (!a.resume && source.unheard !== undefined)) logSession(s, source);
}

/** The beginning incarnation is answered: this is what it hears. */
export function tellAll(source: Source): void {
  if (source.unheard) source.unheard.told = { ...source.evidence };
}

/**
 * F5. A position that a node states, of the sender of its frame, of a teammate, or of the sender of what it gives back:
 * it stays, and the next restart would miss what never was.
 * @param events that must have come here before
 * @throws ProtocolError
 */
export function checkPosition(s: State, source: Source, consumed: number, events: number, what = 'a frame'): void {
  // What is recovered was checked when it came.
  if (!s.serving) return;
  const { task, evidence, attachment } = source;
  const here = eventsOf(source);
  // What is known here was checked before.
  const asks = s.options.count > 1 && (consumed > evidence.consumed || events > here);
  const others = asks ? (s.options.others?.(task) ?? [undefined]) : [];
  const came = arrivalsFor(s, task) ?? others.find((o) => o?.arrivals !== undefined)?.arrivals;
  if (came !== undefined && consumed > came)
    throw protocolError(
      'OUT_OF_SEQUENCE',
      `${what} says that task ${task} consumed ${consumed} arrivals; ${came} have come`,
    );
  // A sender that has sent something since it came back has given back its determinants before (M1).
  if (events <= here || attachment?.spoke !== true || !others.every((o) => o?.whole === true)) return;
  const known = Math.max(here, ...others.map((o) => o!.events));
  if (events > known)
    throw protocolError(
      'OUT_OF_SEQUENCE',
      `${what} says that task ${task} made ${events} events; ${known} of them are known`,
    );
}

/** F4, F5. @throws ProtocolError */
export function checkLate(s: State, source: Source, d: Destination, e: Evidence): void {
  checkPosition(s, source, e.consumed, e.determinants, 'what is given back');
  if (source.unheard?.receivers.has(d.task) !== true) return;
  const { told } = source.unheard;
  const more =
    e.determinants > told.determinants ||
    (e.determinants === told.determinants && e.openPolls > told.openPolls) ||
    e.consumed > told.consumed;
  if (more)
    throw protocolError('OUT_OF_SEQUENCE', `task ${source.task} began again without what task ${d.task} knows of it`);
}

/** The receiver has reported: from now on it gets messages of acting incarnations only. */
export function heard(s: State, d: Destination): void {
  for (const source of s.sources) if (source.unheard?.receivers.delete(d.task) === true) logSession(s, source);
}

function logSession(s: State, source: Source): void {
  source.nonceLsn = append(
    s,
    source.determinants,
    encodeSession(source.task, source.fence, source.nonce!, source.unheard),
  );
}
