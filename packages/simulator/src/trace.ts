/** One line of text for a frame, as the transcripts have it. */
import {
  Flag,
  Kind,
  WorldMode,
  decodeAck,
  decodeDeterminants,
  type Attach,
  type Attached,
  type Determinant,
  type ErrorBody,
  type Frame,
} from '@mayfly/wire';
import { name } from './checkers/index.ts';

const KINDS = new Map(Object.entries(Kind).map(([k, v]) => [v as number, k]));

const entry = (d: Determinant): string => {
  if (d.type === 'polls')
    return d.consumed === 0
      ? `${d.vain} vain polls`
      : `${d.vain > 0 ? `${d.vain} vain polls, ` : ''}a poll of ${d.consumed}`;
  if (d.type === 'value') return `value "${d.value}"`;
  return d.type === 'clock' ? 'clock' : JSON.stringify(d);
};

function determinants(f: Frame): string {
  if (f.determinants.length === 0) return '';
  const b = decodeDeterminants(f.determinants);
  const what =
    b.entries.length > 0
      ? `, determinants ${b.first}–${b.first + b.entries.length - 1} (${b.entries.map(entry).join('; ')})`
      : '';
  return `${what}${b.openPolls > 0 ? `, ${b.openPolls} open polls` : ''}`;
}

const ranges = (r: readonly (readonly [number, number])[]): string =>
  r.length === 0 ? 'none' : r.map(([a, b]) => `${a}–${b - 1}`).join(' ');
const json = (f: Frame): unknown => JSON.parse(new TextDecoder().decode(f.body));

export function describe(f: Frame): string {
  const h = f.header;
  const who = `task ${name(h.src)}.${h.incarnation}`;
  const last = (h.flags & Flag.LAST) !== 0;
  const part = h.size > h.bytes ? ` bytes ${h.offset}–${h.offset + h.bytes - 1} of ${h.size}` : ` ${h.size} bytes`;
  switch (h.kind) {
    case Kind.ATTACH: {
      const a = json(f) as Attach;
      return `ATTACH ${who} nonce ${a.nonce}${a.resume ? ' resumes' : ''}, has received ${a.received}`;
    }
    case Kind.ATTACHED: {
      const a = json(f) as Attached;
      const logged = a.received.map(([dst, n]) => `${n > 1e15 ? 'all' : n} to ${name(dst)}`).join(', ');
      return (
        `ATTACHED ${who}: logged ${logged || 'nothing'}; ${a.arrivals} arrivals; determinants ` +
        `${ranges(a.determinants)}${a.resupplyFrom === undefined ? '' : `; resupply from ${a.resupplyFrom}`}`
      );
    }
    case Kind.REFUSED: {
      const e = json(f) as ErrorBody;
      return `REFUSED task ${name(h.dst)}: ${e.code} ${e.message}`;
    }
    case Kind.DATA:
      return (
        `DATA ${name(h.src)}→${name(h.dst)} #${h.channel}${h.mode === WorldMode.EXIT ? ' exit' : part} from ` +
        `incarnation ${h.incarnation}${determinants(f)}`
      );
    case Kind.ARRIVAL:
      return (
        `ARRIVAL ${last ? `${h.arrival}: ` : ''}${name(h.src)}→${name(h.dst)} ` +
        `#${h.channel}${(h.flags & Flag.NO_BODY) !== 0 ? ' envelope only' : part}`
      );
    case Kind.BODY:
      return `BODY of arrival ${h.arrival}${part}`;
    case Kind.ACK: {
      const a = decodeAck(f.body);
      const channels = a.channels
        .map((c) => `${name(c.dst)} ${c.synced > 1e15 ? 'all' : `${c.appended} (synced ${c.synced})`}`)
        .join(', ');
      return (
        `ACK task ${name(h.dst)}: ${channels || 'no channel'}; determinants ${a.determinantsAppended} (synced ` +
        `${a.determinantsSynced}); arrivals synced ${a.arrivalsSynced}`
      );
    }
    case Kind.DETERMINANTS:
      return `DETERMINANTS ${who}${determinants(f)}${(h.flags & Flag.SYNC) !== 0 ? ', to be synced' : ''}`;
    case Kind.CREDIT:
      return `CREDIT ${who} consumed ${h.arrival}${(h.flags & Flag.ENVELOPE_ONLY) !== 0 ? ', envelopes only' : ''}`;
    case Kind.PULL:
      return `PULL ${who} arrival ${h.arrival} from ${h.offset}`;
    case Kind.RESUPPLY:
      return `RESUPPLY arrival ${h.arrival}: ${name(h.src)}→${name(h.dst)} #${h.channel}${part}`;
    default:
      return `${KINDS.get(h.kind) ?? h.kind} ${who}`;
  }
}
