/**
 * The volunteer of this tab. Lives outside React, so that a look at the dashboard does not end it.
 *
 * Owns: the one `Volunteer` of the page, the tally of what it gave, and the rates that the page shows.
 *   I1 At most one volunteer is on at a time in this tab.
 *   I2 What is shown is the runtime's own snapshot, never a guess of the page.
 */
import {
  createVolunteer,
  NOTHING_GIVEN,
  type Gave,
  type RankSnapshot,
  type Volunteer,
  type VolunteerSnapshot,
  type Wishes,
} from '@mayfly/node/page';
import type { JobId } from '@mayfly/wire';
import { plural } from '../shared/format.ts';
import { setPresence } from '../shared/presence.ts';
import { Announcer, keptHistory } from './cheap.ts';
import { Giving } from './contribution.ts';
import { Rates, type Rate } from './rates.ts';
import { Seats } from './seats.ts';
import { Tally, type Given } from './tab-texts.ts';

export interface SessionView {
  snapshot: VolunteerSnapshot;
  /** Since Start. */
  given: Given;
  /** Over all visits of this browser. */
  sum: Gave;
  rates: ReadonlyMap<string, Rate>;
  /** The ranks that are here, each at its line. */
  seats: readonly (RankSnapshot | undefined)[];
}

export interface StartChoice {
  name: string;
  slots: number;
  share: number;
  room: string;
  board?: { name: string; team?: string } | undefined;
  wishes: Wishes;
}

/** Leaving with last images: as long as they take, within reason. */
const FINISH_MS = 120_000;
const KEEP_MS = 5000;

let volunteer: Volunteer | undefined;
let unsubscribe: (() => void) | undefined;
let tally = new Tally();
let giving = new Giving();
let rates = new Rates();
let seats = new Seats();
let keptAt = 0;
const OFF: SessionView = {
  snapshot: { phase: 'off', name: '', slots: 0, ranks: [], gave: NOTHING_GIVEN, history: [] },
  given: { finished: 0, messages: 0, bytes: 0 },
  sum: giving.take(NOTHING_GIVEN),
  rates: new Map(),
  seats: [],
};
let view: SessionView = OFF;
const listeners = new Set<() => void>();
const announcer = new Announcer(announce, () => document.visibilityState === 'hidden');
document.addEventListener('visibilitychange', () => announcer.seen(Date.now()));

export const current = (): SessionView => view;

export function subscribe(f: () => void): () => void {
  listeners.add(f);
  return () => listeners.delete(f);
}

function show(snapshot: VolunteerSnapshot): void {
  const now = Date.now();
  const other = snapshot.phase !== view.snapshot.phase;
  view = {
    snapshot: { ...snapshot, history: keptHistory(view.snapshot.history, snapshot.history) },
    given: tally.take(snapshot),
    sum: giving.take(snapshot.gave),
    rates: rates.take(snapshot.ranks, now),
    seats: seats.take(snapshot.ranks),
  };
  if (now - keptAt > KEEP_MS || snapshot.phase === 'off') {
    keptAt = now;
    giving.keep(snapshot.gave);
  }
  announcer.news(now, other);
}

function announce(): void {
  const { snapshot } = view;
  setPresence(
    snapshot.phase === 'off'
      ? undefined
      : snapshot.phase === 'working'
        ? { text: `${plural(snapshot.ranks.length, 'rank')} here`, tone: 'work' }
        : { text: snapshot.phase, tone: snapshot.phase === 'idle' ? 'good' : 'warn' },
  );
  for (const f of listeners) f();
}

export async function start(choice: StartChoice): Promise<void> {
  if (volunteer && view.snapshot.phase !== 'off' && view.snapshot.phase !== 'refused') return; // I1
  await dispose();
  tally = new Tally();
  giving = new Giving();
  rates = new Rates();
  seats = new Seats();
  const { name, slots, share, room, wishes, board } = choice;
  const fresh = createVolunteer({
    server: location.origin,
    name,
    slots,
    share,
    wishes,
    ...(room ? { room } : {}),
    ...(board ? { board } : {}),
  });
  volunteer = fresh;
  unsubscribe = fresh.subscribe(() => {
    if (volunteer === fresh) show(fresh.snapshot());
  });
  show({ ...fresh.snapshot(), phase: 'connecting' });
  try {
    await fresh.start();
  } catch (e) {
    const now = fresh.snapshot();
    const said = now.phase === 'refused' || now.phase === 'paused'; // the runtime has given its reason
    if (volunteer === fresh)
      show(
        said
          ? now
          : {
              ...now,
              phase: 'refused',
              error: { code: 'INTERNAL', message: e instanceof Error ? e.message : String(e) },
            },
      );
    return;
  }
  if (volunteer === fresh) show(fresh.snapshot());
}

/** `finish`: last images first, however long they take; pressed again, it ends at once. */
export async function stop(finish = false): Promise<void> {
  const mine = volunteer;
  if (view.snapshot.phase === 'leaving') mine?.hurry();
  await mine?.stop(finish ? FINISH_MS : undefined);
  if (mine && volunteer === mine) show({ ...mine.snapshot(), phase: 'off', ranks: [] });
}

export const setSlots = (n: number): void => void volunteer?.setSlots(n);
export const setShare = (percent: number): void => void volunteer?.setShare(percent);
export const setWishes = (w: Wishes): void => void volunteer?.setWishes(w);
export const picture = async (job: JobId) => volunteer?.picture(job);

async function dispose(): Promise<void> {
  unsubscribe?.();
  unsubscribe = undefined;
  const old = volunteer;
  volunteer = undefined;
  await old?.stop().catch(() => undefined); // it is gone anyway
}
