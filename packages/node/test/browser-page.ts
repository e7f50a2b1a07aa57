/** Page of the browser tests: the volunteer without the web app around it. */
import { createVolunteer, whyNotHere } from '../src/page/index.ts';

const q = new URLSearchParams(location.search);
const volunteer = createVolunteer({
  name: q.get('name') ?? 'tab',
  slots: Number(q.get('slots') ?? 1),
  daemonWorker: () => new Worker('/assets/daemon.js', { type: 'module' }),
});
Object.assign(globalThis, { volunteer, whyNotHere });
const show = (): void => {
  document.title = volunteer.snapshot().phase;
};
volunteer.subscribe(show);
if (q.has('start')) volunteer.start().catch((e: unknown) => Object.assign(globalThis, { failed: String(e) }));
