/** What the dashboard says of jobs, ranks, nodes and faults, in words and tones. Pure. */
import {
  faultsOf,
  kindOf,
  runTime,
  WORLD,
  type ComparedRun,
  type Fault,
  type JobState,
  type JobView,
  type NodeView,
  type ProgramLanguage,
  type TaskView,
} from '@mayfly/wire';
import { bytes, duration, elapsed, plural } from '../shared/format.ts';
import type { Tone, Word } from '../shared/tone.ts';
import { failureLine } from './error-text.ts';

const JOB: Record<JobState, Word> = {
  waiting: { text: 'Waiting', tone: 'wait' },
  running: { text: 'Running', tone: 'work' },
  stalled: { text: 'Stalled', tone: 'warn' },
  pausing: { text: 'Pausing', tone: 'wait' },
  paused: { text: 'Paused', tone: 'quiet' },
  done: { text: 'Done', tone: 'good' },
  failed: { text: 'Failed', tone: 'bad' },
  cancelled: { text: 'Cancelled', tone: 'quiet' },
};

export const jobWord = (state: JobState): Word => JOB[state] ?? { text: state, tone: 'quiet' };

export const hasEnded = (state: JobState): boolean => state === 'done' || state === 'failed' || state === 'cancelled';

/** How far a job is: its ranks have no slots yet, have had them, or it is over. */
export type JobPhase = 'waiting' | 'begun' | 'ended';

export const phaseOf = (job: Pick<JobView, 'state' | 'startedAt'>): JobPhase =>
  hasEnded(job.state) ? 'ended' : job.startedAt === undefined ? 'waiting' : 'begun';

/** What a rank does, in one word: its state, or while it runs its activity. The end of a job stops its ranks. */
export function rankWord(t: Pick<TaskView, 'state' | 'activity' | 'exitCode'>, phase: JobPhase = 'begun'): Word {
  if (phase === 'ended' && t.state !== 'done' && t.state !== 'failed') return { text: 'stopped', tone: 'quiet' };
  switch (t.state) {
    case 'unassigned':
      return { text: phase === 'waiting' ? 'without a slot' : 'waiting for a slot', tone: 'quiet' };
    case 'paused':
      return { text: 'paused', tone: 'quiet' };
    case 'assigned':
      return { text: 'starting', tone: 'wait' };
    case 'suspect':
      return { text: 'silent', tone: 'warn' };
    case 'recovering':
      return { text: t.activity?.state === 'replaying' ? 'replaying' : 'recovering', tone: 'again' };
    case 'done':
      return { text: t.exitCode ? `exit ${t.exitCode}` : 'done', tone: t.exitCode ? 'bad' : 'good' };
    case 'failed':
      return { text: 'failed', tone: 'bad' };
    case 'running':
      break;
    default:
      return { text: t.state, tone: 'quiet' };
  }
  switch (t.activity?.state) {
    case 'waiting':
      return { text: 'waiting', tone: 'wait' };
    case 'replaying':
      return { text: 'replaying', tone: 'again' };
    case 'checkpointing':
      return { text: 'checkpoint', tone: 'again' };
    case 'resting':
      return { text: 'resting', tone: 'quiet' };
    default:
      return { text: 'computing', tone: 'work' };
  }
}

/** Why jobs stand still though nobody paused them, in a line; the server's own words have the figures. */
export const stoppedLine = (code: string): string =>
  code === 'DISK_FULL'
    ? 'the server’s disk is full; the job resumes when there is space'
    : 'the server cannot store anything; the job resumes when it can';

export const isPaused = (state: JobState): boolean => state === 'paused' || state === 'pausing';

const POINT_TO_POINT = /recv|send|probe|wait/i;

type Doing = Pick<TaskView, 'state' | 'activity' | 'activitySince' | 'lastImageAt'>;

/** 'waits in MPI_Recv for rank 2, tag 5'; undefined when there is nothing to add to the word. */
export function activityText(t: Doing): string | undefined {
  const a = t.activity;
  // The word says it already.
  if (t.state === 'unassigned') return undefined;
  if (t.state === 'paused')
    return t.lastImageAt === undefined ? 'will restart from the beginning' : 'will resume from its last checkpoint';
  if (t.state === 'suspect') return 'its node does not answer';
  if (t.state === 'recovering' && a?.state !== 'replaying') return 'restarts';
  if (!a || (t.state !== 'running' && t.state !== 'recovering')) return undefined;
  if (a.state === 'replaying') return 'replays its logged messages';
  if (a.state === 'checkpointing') return 'takes a checkpoint';
  if (a.state === 'resting') return 'throttled by the settings of its volunteer';
  if (a.state !== 'waiting' || !a.call) return undefined;
  if (a.peer === WORLD)
    return a.call === 'stdin' ? 'waits for standard input' : `waits in ${a.call} for the outside world`;
  const whom =
    a.peer === undefined
      ? POINT_TO_POINT.test(a.call) && a.tag !== undefined
        ? ' for any rank'
        : ''
      : ` for rank ${a.peer}`;
  const tag = a.tag === undefined ? '' : a.tag < 0 ? ', any tag' : `, tag ${a.tag}`;
  return `waits in ${a.call}${whom}${tag}`;
}

/** Shorter waits are no news. */
const LONG_MS = 3000;

/** 'waits in MPI_Recv for rank 2, tag 5, 12 s': with the time, once it is worth a word. */
export function doingText(t: Doing, now: number): string | undefined {
  const text = activityText(t);
  const ms = t.activitySince === undefined || t.activity?.state !== 'waiting' ? 0 : now - t.activitySince;
  return text !== undefined && ms >= LONG_MS ? `${text}, ${elapsed(ms).replaceAll(' ', '\u00a0')}` : text;
}

/** From where in its program it waits, while it does: 'at exchange (halo.c:40)'. */
export const placeText = (t: TaskView): string | undefined =>
  activityText(t) !== undefined && t.activity?.state === 'waiting' && t.activity.place !== undefined
    ? `at ${t.activity.place}`
    : undefined;

/** What fits on a tile: the word, and whom it waits for. */
export function tileText(t: TaskView, phase: JobPhase = 'begun'): string {
  if (phase === 'ended') return rankWord(t, phase).text;
  const a = t.activity;
  if (t.state === 'running' && a?.state === 'waiting' && a.peer !== undefined)
    return a.peer === WORLD ? 'waits: input' : `waits for ${a.peer}`;
  return t.state === 'unassigned' ? 'no slot' : rankWord(t, phase).text;
}

/** How many ranks are in each state; `together`: those that run are one state, since they wait and compute by turns. */
export function statesOf(
  tasks: readonly TaskView[],
  phase: JobPhase,
  together: boolean,
): [text: string, of: { n: number; tone: Tone }][] {
  const sums = new Map<string, { n: number; tone: Tone }>();
  for (const t of tasks) {
    const w: Word =
      together && phase === 'begun' && t.state === 'running' ? { text: 'running', tone: 'work' } : rankWord(t, phase);
    sums.set(w.text, { n: (sums.get(w.text)?.n ?? 0) + 1, tone: w.tone });
  }
  return [...sums];
}

/** '85 % busy': over the last 10 s of all ranks together; undefined: not known, or not running. */
export const computedText = (job: Pick<JobView, 'state' | 'computed'>): string | undefined =>
  job.computed === undefined || hasEnded(job.state) || isPaused(job.state)
    ? undefined
    : `${Math.round(job.computed * 100)} % busy`;

const CAUSES: Record<string, string> = {
  goodbye: 'the tab was closed or stopped',
  disconnected: 'the connection broke',
  silent: 'the node stopped responding',
  crashed: 'the worker crashed',
  killed: 'killed manually',
  clone: 'a second tab ran the same rank',
  declined: 'its node does not run programs of this kind',
  reloaded: 'the tab was reloaded',
  refused: 'the server rejected its messages',
  restart: 'the server was restarted',
  doubted: 'possible deadlock; the rank was restarted on another node to check',
  compared: 'no progress; the rank was moved to another node',
  team: 'a rank of its team was lost',
};
export const faultCause = (cause: string): string => CAUSES[cause] ?? cause;

/** What is known of it besides its cause, a line each: the error, and what follows for its node. */
export function faultNotes(f: Fault): string[] {
  const who = f.newcomer === true ? 'new node' : 'node';
  const verdict =
    f.excused === true
      ? 'not counted against the node: the rank failed in the same place elsewhere'
      : f.quarantineMs === undefined
        ? undefined
        : `${who} in quarantine for ${elapsed(f.quarantineMs)}`;
  return [f.error, verdict].filter((line) => line !== undefined);
}

/** How long a job has run: it ticks while it runs, and is the same in the list, on its page and in its report then. */
export const runText = (job: JobView, now: number): string =>
  job.startedAt === undefined
    ? '–'
    : job.endedAt === undefined
      ? elapsed(runTime(job, now))
      : duration(runTime(job, now));

/** Done and living ranks of a job, for its progress line. */
export function ranksOf(job: JobView): { done: number; alive: number; total: number } {
  let done = 0;
  let alive = 0;
  for (const t of job.tasks) {
    if (t.state === 'done') done++;
    else if (t.state === 'running' || t.state === 'assigned') alive++;
  }
  return { done, alive, total: job.size };
}

/** One line under a job's name: why it waits, or how far it is. */
export function jobLine(job: JobView): string {
  const { done, alive, total } = ranksOf(job);
  if (job.state === 'failed') return job.error ? failureLine(job.error) : (job.reason ?? 'failed');
  if (job.stopped && !hasEnded(job.state)) return stoppedLine(job.stopped.code);
  if (job.reason && !hasEnded(job.state)) return job.reason;
  if (job.state === 'paused') return 'not started';
  if (job.state === 'waiting') return `waits for ${plural(total, 'slot')}`;
  if (job.state === 'done') return doneLine(job);
  if (job.state === 'cancelled') return `${plural(total, 'rank')} stopped`;
  if (job.tasks.length === 0) return plural(total, 'rank');
  const far = done > 0 ? `${done} of ${plural(total, 'rank')} done` : `${alive} of ${plural(total, 'rank')} running`;
  return [far, computedText(job)].filter((part) => part !== undefined).join(' · ');
}

/** Ranks of a job that have no slot, by room ('' for none). A job of several rooms has a place for each cluster. */
export function placesOf(job: JobView): { room: string; ranks: number }[] {
  const wants = (task: number): boolean => job.state === 'waiting' || job.tasks[task]?.state === 'unassigned';
  if (job.rooms) return job.rooms.map(({ code = '', ranks }) => ({ room: code, ranks: ranks.filter(wants).length }));
  const ranks = job.state === 'waiting' ? job.size : job.tasks.filter((t) => t.state === 'unassigned').length;
  return [{ room: job.room ?? '', ranks }];
}

/** Where volunteers for this job are wanted: it waits for slots there, as a whole or with some of its ranks. */
export function wantedAt(job: JobView): string[] {
  if (hasEnded(job.state) || isPaused(job.state) || job.stopped) return [];
  const rooms = placesOf(job).flatMap((p) => (p.ranks > 0 ? [p.room] : []));
  return [...new Set(rooms)].map((room) => (room === '' ? '/volunteer' : `/volunteer?room=${room}`));
}

/** The room of a job, or those of its clusters; undefined: volunteers without a room run it. */
export const roomText = (job: Pick<JobView, 'room' | 'rooms'>): string | undefined =>
  job.rooms ? [...new Set(job.rooms.map((r) => r.code ?? 'none'))].join(', ') : job.room;

/** '4 ranks finished, 1 fault survived'; a program that was told of a loss may have gone on with fewer ranks. */
function doneLine(job: JobView): string {
  const lost = job.tasks.filter((t) => t.state === 'failed').length;
  const survived = Math.max(0, faultsOf(job) - lost);
  const finished =
    lost === 0
      ? `${plural(job.size, 'rank')} finished`
      : `${job.size - lost} of ${plural(job.size, 'rank')} finished; ${lost} ${lost === 1 ? 'was' : 'were'} lost, and the program went on`;
  return finished + (survived === 0 ? '' : `, ${plural(survived, 'fault')} survived`);
}

export interface Totals {
  messages: number;
  bytes: number;
  images: number;
  imageBytes: number;
}

/** Sums over ranks; a message counts where it was sent. */
export function totalsOf(job: JobView): Totals {
  const sum: Totals = { messages: 0, bytes: 0, images: 0, imageBytes: 0 };
  for (const t of job.tasks) {
    sum.messages += t.messagesOut;
    sum.bytes += t.bytesOut;
    sum.images += t.images;
    sum.imageBytes += t.imageBytes;
  }
  return sum;
}

const NODE: Record<string, Word> = {
  here: { text: 'online', tone: 'good' },
  suspect: { text: 'silent', tone: 'warn' },
  gone: { text: 'gone', tone: 'quiet' },
};
export const nodeWord = (n: NodeView): Word =>
  (n.state === 'here' && n.quarantinedUntil !== undefined ? { text: 'quarantine', tone: 'warn' } : undefined) ??
  NODE[n.state] ?? { text: n.state, tone: 'quiet' };

/** Why a node is given nothing new, and until when; undefined: it is. */
export const quarantineText = (n: NodeView, now: number): string | undefined =>
  n.quarantinedUntil === undefined || n.quarantinedUntil <= now
    ? undefined
    : `In quarantine for ${elapsed(n.quarantinedUntil - now)}: ranks failed here but not elsewhere. ` +
      'It gets no new ones.';

/** A headless volunteer may run programs of WebAssembly only. */
const runs = (n: NodeView, language: string): boolean =>
  n.runs === undefined || n.runs.includes(kindOf(language as ProgramLanguage));

/** What it is, and what it does not run. */
export const engineText = (n: NodeView): string => `${n.engine}${runs(n, 'typescript') ? '' : ', C and C++ only'}`;

/**
 * Slots of the nodes that are here; with `room`, of those that serve it ('' for none); with `language`, of those that
 * run it.
 */
export function slotsOf(
  nodes: readonly NodeView[],
  room?: string,
  language?: string,
): { total: number; free: number; nodes: number } {
  const here = nodes.filter(
    (n) =>
      n.state === 'here' &&
      n.quarantinedUntil === undefined &&
      (room === undefined || (n.room ?? '') === room) &&
      (language === undefined || runs(n, language)),
  );
  const total = here.reduce((sum, n) => sum + n.slots, 0);
  return { total, free: Math.max(0, total - here.reduce((sum, n) => sum + n.busy, 0)), nodes: here.length };
}

/** How a job of `size` ranks would fare now: said before it is submitted. `kind`: what not all slots are for. */
export function slotsAdvice(size: number, slots: { total: number; free: number }, kind = ''): Word {
  if (slots.free >= size)
    return {
      text:
        `${slots.free === slots.total ? plural(slots.free, 'slot') : `${slots.free} of ${plural(slots.total, 'slot')}`} ` +
        'free: the job starts at once.',
      tone: 'good',
    };
  if (slots.total >= size)
    return {
      text:
        `Needs ${plural(size, 'slot')}; ${slots.free} of ${slots.total} are free. The job waits for others to ` +
        'finish.',
      tone: 'wait',
    };
  return {
    text:
      `Needs ${plural(size, 'slot')}; ${slots.total === 0 ? 'none' : slots.total} available${kind}. The job waits ` +
      'for more volunteers.',
    tone: 'warn',
  };
}

/** One line above the runs with which a job was compared: never more than was compared. */
export function verdictOf(runs: readonly Pick<ComparedRun, 'same' | 'faults'>[]): Word {
  const compared = runs.filter((r) => r.same !== undefined);
  const other = compared.filter((r) => r.same === false).length;
  if (compared.length === 0) return { text: 'Not compared yet.', tone: 'quiet' };
  if (other > 0)
    return {
      text:
        'The answer is not the same as that of ' +
        `${other === compared.length ? (other === 1 ? 'the other run' : `${other} other runs`) : `${other} of ${compared.length} other runs`}.`,
      tone: 'bad',
    };
  const calm = compared.some((r) => r.faults === 0);
  return {
    text:
      'The answer is the same, byte for byte, as that of ' +
      `${compared.length === 1 ? (calm ? 'the undisturbed run' : 'the other run') : `${compared.length} other runs`}.`,
    tone: 'good',
  };
}

/** What the comparison with one run shows. */
export function comparisonLine(lostHere: number, run: Pick<ComparedRun, 'same' | 'faults'>): string {
  if (run.same === undefined) return '';
  const lost = (n: number): string => (n === 0 ? 'no ranks' : plural(n, 'rank'));
  const other = run.faults === 0 ? 'none' : String(run.faults);
  return `${run.same ? 'the same' : 'not the same'}. This run lost ${lost(lostHere)}; the other lost ${other}.`;
}

/** An image on its way: how much of how much. */
export function uploadText({ sentBytes, ofBytes }: NonNullable<TaskView['uploading']>): string {
  if (ofBytes === 0) return 'uploading';
  return sentBytes < ofBytes ? `uploading ${bytes(sentBytes)} of ${bytes(ofBytes)}` : 'uploaded, waiting for the log';
}
