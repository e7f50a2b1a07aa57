/**
 * Offers, from the manifest until all pages are here. The core checks the manifest, which comes from a stranger's
 * machine (check-manifest.ts), finds the pages that the task has sent already, and asks for the rest. When an offer
 * ends, the questions that it asked end too.
 */
import type { ErrorBody } from '@mayfly/wire';
import { checkManifest } from './check-manifest.ts';
import { refusesInTeam, supersedes } from './team-offers.ts';
import { refusesNear, waitsAgain } from './unanswered.ts';
import { OVER, emit, taskOf, underWayOf, waveOf, type Offer, type State } from './state.ts';
import type { CheckpointServerEvent } from './events.ts';

export function offer(s: State, e: Extract<CheckpointServerEvent, { type: 'offer' }>): void {
  const { link, manifest } = e;
  const { image } = manifest;
  const no = (error: ErrorBody): void => emit(s, { type: 'reply', link, reply: 'refused', image, error });
  const job = s.jobs.get(e.job);
  if (!job?.open || e.task >= job.open.size) return no({ code: 'UNKNOWN_JOB', message: 'This job is not running.' });
  const task = taskOf(job, e.task);
  if (task.done) return no({ code: 'UNKNOWN_JOB', message: 'The task has ended.' });
  if (task.acting === undefined || e.incarnation !== task.acting)
    return no({
      code: 'FENCED',
      message: `Incarnation ${task.acting ?? 0} of task ${e.task} is running, not ${e.incarnation}.`,
    }); // C4
  if (waitsAgain(s, image, link)) return; // C16
  if (task.images.some((i) => i.image === image) || task.near?.image === image)
    return emit(s, { type: 'reply', link, reply: 'complete', image });
  const open = task.offer;
  const superseded = open !== undefined && supersedes(job, open, manifest);
  if (open && !superseded && open.stage !== 'finding' && open.stage !== 'receiving') {
    if (open.manifest.image !== image)
      return no({ code: 'TOO_MANY', message: 'The image before this one is not complete yet.' });
    // The node lost the connection and asks again: everything is here already.
    open.link = link;
    return emit(s, { type: 'need', link, image, pages: [] });
  }
  const { size, programs, policy } = job.open;
  const error = checkManifest(
    manifest,
    { ...e, size, programs, policy, images: task.images, trimmed: task.trimmed },
    s.settings,
  );
  if (error) return no(error);
  const near = e.near ?? false;
  const alien = (near ? refusesNear(job, manifest) : undefined) ?? refusesInTeam(job, { manifest, task });
  if (alien !== undefined) return no({ code: 'CONFLICT', message: alien });
  const wave = waveOf(job, manifest);
  if (wave !== undefined && wave !== underWayOf(job, e.task)) return no(OVER); // C7
  if (open) {
    if (!superseded && open.link !== link && open.manifest.image !== image)
      return no({ code: 'TOO_MANY', message: 'The image before this one is not complete yet.' });
    refuse(s, open, {
      code: 'CONFLICT',
      message: superseded ? 'A later wave of its team began.' : 'The node offered the image again.',
    });
  }
  const o: Offer = {
    task,
    manifest,
    near,
    savedBytes: 0,
    stage: 'finding',
    link,
    ask: ++s.asks,
    waiting: new Set(),
    covered: new Map(),
    askedAt: 0,
    since: s.now,
    sentBytes: 0,
  };
  task.offer = o;
  s.offers.set(image, o); // pinned from here on (C6)
  const pages = [...new Set(manifest.pages)].filter((h) => h !== '');
  task.sent = new Set(pages.filter((h) => task.sent.has(h)));
  emit(s, {
    type: 'findPages',
    image,
    ask: o.ask,
    pages,
    own: task.images.map((i) => i.image),
    sent: [...task.sent],
  });
}

/** Ends an offer and sends its node the reason. */
export function refuse(s: State, o: Offer, error: ErrorBody): void {
  if (o.link !== undefined) emit(s, { type: 'reply', link: o.link, reply: 'refused', image: o.manifest.image, error });
  drop(s, o);
}

/** Ends an offer. */
export function drop(s: State, o: Offer): void {
  if (o.stage !== 'committing') s.garbage = true;
  if (o.stage === 'covering') uncover(s, o);
  // It will not be in the set of its wave, which so will never be complete (T6).
  if (o.stage === 'covered') o.task.job.teams.get(o.task.task)?.sets.drop(o.wave);
  if (s.offers.get(o.manifest.image) === o) s.offers.delete(o.manifest.image);
  if (o.task.offer === o) delete o.task.offer;
}

/** The offer no longer waits for the Channel Memories to cover it. */
export function uncover(s: State, o: Offer): void {
  const { job, task, image } = o.manifest;
  for (let cm = 0; cm < (o.task.job.open?.channelMemories ?? 0); cm++)
    emit(s, { type: 'uncover', job, task, image, cm });
}
