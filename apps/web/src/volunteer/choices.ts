/**
 * What a volunteer chose: from the address first, else as remembered, else a polite default. Pure but for the names it
 * draws.
 */
import { timeOfDay, type Hours } from '@mayfly/node/page';
import { BOARD_NAME_CHARS } from '@mayfly/wire';
import { plural } from '../shared/format.ts';

export interface Choices {
  name: string;
  slots: number;
  room: string;
  /** Percent of a processor that each rank may use. */
  share: number;
  onlyCharging: boolean;
  onlyVisible: boolean;
  onlyIdle: boolean;
  easeOff: boolean;
  /** Only at these hours of the day, if `on`. */
  hours: Hours & { on: boolean };
  /** For the board of the room; empty: not shown there. */
  boardName: string;
  team: string;
  /** Start without a click (`?start`: demos, tests, classrooms). */
  autostart: boolean;
}

export interface Remembered {
  name?: string | undefined;
  slots?: string | undefined;
  room?: string | undefined;
  share?: string | undefined;
  charging?: string | undefined;
  visible?: string | undefined;
  idle?: string | undefined;
  /** See {@link textOf}. */
  hours?: string | undefined;
  /** '0': not. */
  ease?: string | undefined;
  boardName?: string | undefined;
  team?: string | undefined;
}

export const LEAST_SHARE = 10;

/** The most that the slider offers: every core. */
export const mostSlots = (cores: number | undefined): number => Math.max(1, cores || 1);

/** Until somebody chooses, one core stays free for whoever sits before the screen. */
export const defaultSlots = (cores: number | undefined): number => Math.max(1, mostSlots(cores) - 1);

const MOST = 64;

/**
 * `?slots=` may ask for more than there are cores (a first look on a small machine), up to 64; the slider does not
 * offer that.
 */
export function choose(
  search: string,
  remembered: Remembered,
  cores: number | undefined,
  freshName: () => string,
): Choices {
  const q = new URLSearchParams(search);
  const most = mostSlots(cores);
  const asked = whole(q.get('slots'));
  const kept = whole(remembered.slots);
  return {
    name: (q.get('name') || remembered.name || freshName()).slice(0, 80),
    slots: asked !== undefined ? clamp(asked, 1, MOST) : clamp(kept ?? defaultSlots(cores), 1, most),
    room: (q.get('room') ?? remembered.room ?? '').slice(0, 64),
    share: clamp(whole(q.get('share')) ?? whole(remembered.share) ?? 100, LEAST_SHARE, 100),
    onlyCharging: remembered.charging === '1',
    onlyVisible: remembered.visible === '1',
    onlyIdle: remembered.idle === '1',
    hours: hoursOf(remembered.hours),
    easeOff: (q.get('ease') ?? remembered.ease) !== '0',
    boardName: (remembered.boardName ?? '').slice(0, BOARD_NAME_CHARS),
    team: (remembered.team ?? '').slice(0, BOARD_NAME_CHARS),
    autostart: q.has('start') && q.get('start') !== '0',
  };
}

/** At night. */
const HOURS = { on: false, from: 22 * 60, to: 7 * 60 };

/** The choices in one line: '1 of 2 cores at 50 % while this page is visible, for room QX7PKM'. */
export function choicesText(c: Choices, cores: number | undefined): string {
  const much = !cores
    ? plural(c.slots, 'rank')
    : c.slots > cores
      ? `${plural(c.slots, 'rank')} on ${plural(cores, 'core')}`
      : `${c.slots} of ${plural(cores, 'core')}`;
  const when = [
    c.onlyVisible ? 'this page is visible' : 'this tab is open',
    ...(c.onlyCharging ? ['this machine is charging'] : []),
    ...(c.onlyIdle ? ['nobody is using it'] : []),
  ];
  return [
    much,
    c.share < 100 ? ` at ${c.share} %` : '',
    ` while ${when.length > 1 ? `${when.slice(0, -1).join(', ')} and ${when.at(-1)}` : when[0]}`,
    c.hours.on ? `, from ${timeOfDay(c.hours.from)} to ${timeOfDay(c.hours.to)}` : '',
    c.room === '' ? '' : `, for room ${c.room}`,
  ].join('');
}

/** Minutes after midnight of '07:05'; undefined: that is no time. */
export function minuteOf(time: string | undefined): number | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time ?? '') ?? [];
  return hour === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

/** As they are remembered: 'on 22:00 07:00'. */
export const textOf = (h: Choices['hours']): string => `${h.on ? 'on' : 'off'} ${timeOfDay(h.from)} ${timeOfDay(h.to)}`;

function hoursOf(kept: string | undefined): Choices['hours'] {
  const [on, from, to] = kept?.split(' ') ?? [];
  return { on: on === 'on', from: minuteOf(from) ?? HOURS.from, to: minuteOf(to) ?? HOURS.to };
}

const FIRST = [
  'amber',
  'brisk',
  'calm',
  'clear',
  'early',
  'gentle',
  'green',
  'light',
  'lucky',
  'quiet',
  'silver',
  'swift',
  'warm',
  'wise',
];
const SECOND = [
  'brook',
  'dune',
  'fern',
  'heron',
  'lark',
  'maple',
  'otter',
  'pebble',
  'reed',
  'river',
  'sparrow',
  'trout',
  'wave',
  'willow',
];

/** 'calm-heron-42': nobody has to invent one. */
export function freshName(random: () => number): string {
  const pick = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? words[0]!;
  return `${pick(FIRST)}-${pick(SECOND)}-${10 + Math.floor(random() * 90)}`;
}

const clamp = (n: number, low: number, high: number): number => Math.min(high, Math.max(low, n));
const whole = (s: string | null | undefined): number | undefined => (s && /^\d{1,4}$/.test(s) ? Number(s) : undefined);
