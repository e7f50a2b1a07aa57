/** How many slots a job lacks and where, and the address of a tab that brings them. Pure. */
import type { JobView, NodeView } from '@mayfly/wire';
import { plural } from '../shared/format.ts';
import type { Word } from '../shared/tone.ts';
import { placesOf, slotsAdvice, slotsOf } from './status-texts.ts';

/** Ranks that one tab of a small machine is asked to hold, for a first look; more than its cores take turns. */
const FEW = 4;

/** Ranks that need slots in a room ('' for none). */
interface Place {
  room: string;
  ranks: number;
}

/** One place for each room. */
function byRoom(places: readonly Place[]): Place[] {
  const sums = new Map<string, number>();
  for (const { room, ranks } of places) sums.set(room, (sums.get(room) ?? 0) + ranks);
  return [...sums].map(([room, ranks]) => ({ room, ranks }));
}

/** Slots that are lacking for the ranks of a job that have none, in one of its rooms; 0: it lacks none. */
export function lackingFor(job: JobView, nodes: readonly NodeView[]): { lacking: number; room: string } {
  const all = byRoom(placesOf(job)).map(({ room, ranks }) => ({
    room,
    lacking: Math.max(0, ranks - slotsOf(nodes, room, job.program.language).free),
  }));
  return all.find((p) => p.lacking > 0) ?? all[0] ?? { room: job.room ?? '', lacking: 0 };
}

/**
 * How a job would fare now: said before it is submitted. Of several rooms, that of the first that has too few slots.
 * `enough`: its volunteers have as many slots as it needs, though maybe not free.
 */
export function fateOf(
  nodes: readonly NodeView[],
  places: readonly Place[],
  language: string | undefined,
): { advice: Word; lacking: number; enough: boolean; room: string } {
  const all = byRoom(places).map(({ room, ranks }) => ({ room, ranks, slots: slotsOf(nodes, room, language) }));
  const worst = all.find((p) => p.slots.total < p.ranks) ??
    all.find((p) => p.slots.free < p.ranks) ?? {
      room: all[0]?.room ?? '',
      ranks: all.reduce((sum, p) => sum + p.ranks, 0),
      slots: { total: all.reduce((n, p) => n + p.slots.total, 0), free: all.reduce((n, p) => n + p.slots.free, 0) },
    };
  const others = slotsOf(nodes, worst.room).total > worst.slots.total;
  const kind = others ? ` for ${language === 'typescript' ? 'TypeScript' : 'C and C++'}` : '';
  const { text, tone } = slotsAdvice(worst.ranks, worst.slots, kind);
  const lacks = worst.slots.free < worst.ranks;
  const where = worst.room === '' ? 'Without a room' : `Room ${worst.room}`;
  return {
    advice: { text: lacks && all.length > 1 ? `${where}: ${text}` : text, tone },
    lacking: worst.ranks - worst.slots.free,
    enough: worst.slots.total >= worst.ranks,
    room: worst.room,
  };
}

/**
 * `lacking`: 0 asks for what the volunteer page would offer by itself. `own`: the server is on this machine, and its
 * compiler, too. A tab that eases off while that is busy makes a first look slow, for whom it is to be quick.
 */
export function computeHere(
  lacking: number,
  room: string | undefined,
  cores: number | undefined,
  own: boolean,
): { href: string; text: string } {
  const slots = Math.min(lacking, Math.max(FEW, cores || 1));
  const query = [
    `start`,
    ...(slots > 0 ? [`slots=${slots}`] : []),
    ...(room ? [`room=${encodeURIComponent(room)}`] : []),
    ...(own ? ['ease=0'] : []),
  ].join('&');
  return {
    href: `/volunteer?${query}`,
    text: slots > 0 ? `Compute in a new tab (${plural(slots, 'slot')})` : 'Compute in a new tab',
  };
}
