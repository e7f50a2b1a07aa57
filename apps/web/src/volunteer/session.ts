/**
 * The volunteer of this tab. Lives outside React, so that a look at the dashboard does not end it.
 *
 * Owns: the one `Volunteer` of the page and the tally of what it gave.
 *   I1 At most one volunteer is on at a time in this tab.
 *   I2 What is shown is the runtime's own snapshot, never a guess of the page.
 */
import { createVolunteer, type Volunteer, type VolunteerSnapshot } from '@mayfly/node/page';
import { plural } from '../shared/format.ts';
import { setPresence } from '../shared/presence.ts';
import { Tally, type Given } from './words.ts';

export interface SessionView {
  snapshot: VolunteerSnapshot;
  given: Given;
}

const OFF: SessionView = { snapshot: { phase: 'off', name: '', slots: 0, ranks: [], history: [] }, given: { finished: 0, messages: 0, bytes: 0 } };

let volunteer: Volunteer | undefined;
let unsubscribe: (() => void) | undefined;
let tally = new Tally();
let view: SessionView = OFF;
const listeners = new Set<() => void>();

export const current = (): SessionView => view;

export function subscribe(f: () => void): () => void {
  listeners.add(f);
  return () => listeners.delete(f);
}

function show(snapshot: VolunteerSnapshot): void {
  view = { snapshot, given: tally.take(snapshot) };
  setPresence(
    snapshot.phase === 'off'
      ? undefined
      : snapshot.phase === 'working'
        ? { text: `${plural(snapshot.ranks.length, 'rank')} here`, tone: 'work' }
        : { text: snapshot.phase, tone: snapshot.phase === 'idle' ? 'good' : 'warn' },
  );
  for (const f of listeners) f();
}

export async function start(choice: { name: string; slots: number; room: string }): Promise<void> {
  if (volunteer && view.snapshot.phase !== 'off' && view.snapshot.phase !== 'refused') return; // I1
  await dispose();
  tally = new Tally();
  const fresh = createVolunteer({ server: location.origin, name: choice.name, slots: choice.slots, ...(choice.room ? { room: choice.room } : {}) });
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
    if (volunteer === fresh) show(said ? now : { ...now, phase: 'refused', error: { code: 'INTERNAL', message: e instanceof Error ? e.message : String(e) } });
    return;
  }
  if (volunteer === fresh) show(fresh.snapshot());
}

export async function stop(): Promise<void> {
  await volunteer?.stop();
  if (volunteer) show({ ...volunteer.snapshot(), phase: 'off', ranks: [] });
}

export const setSlots = (n: number): void => void volunteer?.setSlots(n);

async function dispose(): Promise<void> {
  unsubscribe?.();
  unsubscribe = undefined;
  const old = volunteer;
  volunteer = undefined;
  await old?.stop().catch(() => undefined); // it is gone anyway
}
