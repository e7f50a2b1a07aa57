/** What the volunteer page says of this tab. Pure. */
import type { RankSnapshot, VolunteerEvent, VolunteerSnapshot } from '@mayfly/node/page';
import { WORLD } from '@mayfly/wire';
import { elapsed, plural } from '../shared/format.ts';
import { keyOf, type Rate } from './rates.ts';
import type { Tone } from '../shared/tone.ts';

export interface StateWords {
  /**
   * Begins with the word of the phase: Off, Connecting, Idle, Working, Leaving, Paused, Refused; or says that the
   * server is silent.
   */
  title: string;
  detail: string;
  tone: Tone;
}

/** After so long without a move, a rank that waits is said to wait, and for whom. */
const STILL_MS = 10_000;

/** `rates` tells since when each rank has not moved; `now` is the time by this machine's clock. */
export function stateWords(
  s: VolunteerSnapshot,
  rates: ReadonlyMap<string, Rate> = new Map(),
  now = s.silentSince ?? 0,
): StateWords {
  if (s.silentSince !== undefined && (s.phase === 'idle' || s.phase === 'working')) {
    const here = s.ranks.length > 0 ? 'Ranks here keep running as far as they can. ' : '';
    return {
      title: 'No answer from the server',
      detail:
        `No data for ${elapsed(now - s.silentSince)}, although the connection is open. ${here}It will resume ` +
        'automatically.',
      tone: 'warn',
    };
  }
  switch (s.phase) {
    case 'off':
      return { title: 'Off', detail: 'This tab does nothing until you press Start.', tone: 'quiet' };
    case 'connecting':
      return {
        title: 'Connecting',
        detail: s.reason ? sentence(s.reason) : 'Looking for the server; retrying automatically.',
        tone: 'wait',
      };
    case 'idle':
      return {
        title: 'Idle',
        detail:
          s.reason ??
          `Waiting for work: connected, ${plural(s.slots, 'slot')} free. Work starts automatically when a ` +
            'job needs it.',
        tone: 'good',
      };
    case 'working': {
      const still = stillWords(s, rates);
      const usual = `${plural(s.ranks.length, 'rank')} in ${plural(s.slots, 'slot')}. You can close the tab at any time.`;
      return {
        title: `Working on ${jobNames(s.ranks)}`,
        detail: s.reason ? sentence(s.reason) : (still ?? usual),
        tone: still ? 'wait' : 'work',
      };
    }
    case 'leaving':
      return {
        title: 'Leaving',
        detail:
          `${sentence(s.reason ?? 'handing over the ranks')} The ranks here continue in other tabs from their ` +
          'last checkpoints.',
        tone: 'again',
      };
    case 'paused':
      return {
        title: 'Paused',
        detail: s.reason ? sentence(s.reason) : 'This tab computes nothing at the moment.',
        tone: 'warn',
      };
    case 'refused':
      return { title: 'Refused', detail: s.error?.message ?? s.reason ?? 'The server rejected this tab.', tone: 'bad' };
  }
}

const sentence = (s: string): string => `${s.charAt(0).toUpperCase()}${s.slice(1)}${/[.!?]$/.test(s) ? '' : '.'}`;

/** Said when nothing here moves: every rank waits, for what, and for how long. */
function stillWords(s: VolunteerSnapshot, rates: ReadonlyMap<string, Rate>): string | undefined {
  const least = Math.min(
    ...s.ranks.map((r) => (r.activity?.state === 'waiting' ? (rates.get(keyOf(r))?.stillMs ?? 0) : 0)),
  );
  if (s.ranks.length === 0 || least < STILL_MS) return undefined;
  const who =
    s.ranks.length === 1
      ? 'the rank here has'
      : s.ranks.length === 2
        ? 'both ranks here have'
        : `all ${s.ranks.length} ranks here have`;
  // A rank that waits for a line holds up those that wait for it.
  const line = s.ranks.some((r) => r.activity?.call === 'stdin');
  return (
    `No progress: ${who} waited ${elapsed(least)} ` +
    `${line ? 'for a line of input from the job’s owner' : 'for messages from other ranks'}.`
  );
}

/** “heat”, “heat” and “cg”, “heat” and 2 others. */
export function jobNames(ranks: readonly RankSnapshot[]): string {
  const names = [...new Set(ranks.map((r) => r.jobName ?? r.job))].map((n) => `“${n}”`);
  if (names.length <= 2) return names.join(' and ');
  return `${names[0]} and ${names.length - 1} others`;
}

/** What the work here is for: each job once, by name, with what its owner says. */
export const abouts = (ranks: readonly RankSnapshot[]): [job: string, about: string | undefined][] => [
  ...new Map(ranks.map((r) => [r.job, [r.jobName ?? r.job, r.about] as [string, string | undefined]])).values(),
];

export function rankWords(r: RankSnapshot): { text: string; tone: Tone } {
  if (r.state === 'loading') return { text: r.incarnation > 0 ? 'recovering' : 'loading', tone: 'again' };
  if (r.state === 'ending') return { text: 'finishing', tone: 'good' };
  switch (r.activity?.state) {
    case 'waiting':
      return { text: waitWords(r), tone: 'wait' };
    case 'resting':
      return { text: 'throttled by your settings', tone: 'quiet' };
    case 'replaying':
      return { text: 'replays its messages', tone: 'again' };
    case 'checkpointing':
      return { text: 'takes a checkpoint', tone: 'again' };
    default:
      return { text: 'computes', tone: 'work' };
  }
}

function waitWords({ activity: a }: RankSnapshot): string {
  if (!a?.call) return 'waits';
  if (a.call === 'stdin') return 'waits for standard input';
  return `waits in ${a.call}${a.peer === undefined || a.peer === WORLD ? '' : ` for rank ${a.peer}`}`;
}

export interface Given {
  finished: number;
  messages: number;
  bytes: number;
}

/**
 * What this tab has done since it was opened. Counters of ranks that have left are kept: a snapshot shows only those
 * that are here, so the last figures of each (job, task, incarnation) are remembered.
 */
export class Tally {
  readonly #last = new Map<string, { messages: number; bytes: number }>();
  #finished = 0;
  #seenUpTo = 0;

  take(s: VolunteerSnapshot): Given {
    for (const r of s.ranks) {
      this.#last.set(`${r.job}.${r.task}.${r.incarnation}`, {
        messages: r.messagesIn + r.messagesOut,
        bytes: r.bytesIn + r.bytesOut,
      });
    }
    let newest = this.#seenUpTo;
    for (const e of s.history) {
      if (e.at <= this.#seenUpTo) continue;
      newest = Math.max(newest, e.at);
      if (e.kind === 'finished') this.#finished++;
    }
    this.#seenUpTo = newest;
    let messages = 0;
    let bytes = 0;
    for (const l of this.#last.values()) {
      messages += l.messages;
      bytes += l.bytes;
    }
    return { finished: this.#finished, messages, bytes };
  }
}

const EVENT_TONE: Record<VolunteerEvent['kind'], Tone> = {
  connected: 'good',
  disconnected: 'warn',
  started: 'work',
  finished: 'good',
  failed: 'bad',
  revoked: 'quiet',
  crashed: 'bad',
  checkpoint: 'again',
  refused: 'bad',
  paused: 'quiet',
  resumed: 'good',
};
export const eventTone = (kind: VolunteerEvent['kind']): Tone => EVENT_TONE[kind] ?? 'quiet';
