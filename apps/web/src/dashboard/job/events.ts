/** What happened in a job, as a list: words, filter, and the file of it. Pure. */
import { teamChangeText, type TeamChange, type TimelineEvent } from '@mayfly/wire';
import { csvCell } from '../../shared/downloads.ts';
import { faultCause } from '../status-texts.ts';
import { rollbackText, waveText } from './waves/wave-texts.ts';

/** As the client of REST has it. */
export type JobEvent = Omit<TimelineEvent, 'task' | 'incarnation' | 'ranks' | 'teams'> & {
  task?: number;
  incarnation?: number;
  ranks?: readonly number[];
  teams?: readonly (readonly number[])[];
};

export const GROUPS = [
  'everything',
  'faults',
  'assignments',
  'checkpoints',
  'teams',
  'ends',
  'pauses and restarts',
] as const;
export type Group = (typeof GROUPS)[number];

const GROUP_OF: Record<JobEvent['kind'], Group> = {
  fault: 'faults',
  assigned: 'assignments',
  imageBegun: 'checkpoints',
  image: 'checkpoints',
  done: 'ends',
  paused: 'pauses and restarts',
  resumed: 'pauses and restarts',
  server: 'pauses and restarts',
  wave: 'checkpoints',
  rollback: 'faults',
  rebuilt: 'checkpoints',
  fellBack: 'checkpoints',
  dissolved: 'teams',
  moved: 'teams',
  merged: 'teams',
};

const WORDS: Record<JobEvent['kind'], string> = {
  fault: 'lost',
  assigned: 'assigned to a node',
  imageBegun: 'a checkpoint started',
  image: 'a checkpoint is complete',
  done: 'has ended',
  paused: 'the job is paused',
  resumed: 'the job resumed',
  server: 'the server restarted',
  wave: 'a wave is committed',
  rollback: 'all ranks went back',
  rebuilt: 'checkpoint made again from parity',
  fellBack: 'no parity, back to the checkpoint at the server',
  dissolved: 'a team is dissolved',
  moved: 'a team moves',
  merged: 'a team is made of others',
};

/** Events have no numbers: each has a name, also among those of one moment. */
export function named(events: readonly JobEvent[]): { id: string; event: JobEvent }[] {
  const seen = new Map<string, number>();
  return events.map((event) => {
    const what = `${event.at} ${event.kind} ${event.task ?? ''} ${event.incarnation ?? ''}`;
    const n = seen.get(what) ?? 0;
    seen.set(what, n + 1);
    return { id: `${what} ${n}`, event };
  });
}

export const eventText = (e: JobEvent): string =>
  e.kind === 'fault'
    ? `${WORDS.fault}: ${faultCause(e.cause ?? '')}`
    : e.kind === 'wave'
      ? waveText(e)
      : e.kind === 'rollback'
        ? rollbackText(e)
        : e.kind === 'fellBack'
          ? `${WORDS.fellBack}: ${e.cause ?? ''}`
          : e.ranks
            ? teamChangeText({ what: e.kind as TeamChange['what'], ranks: e.ranks, teams: e.teams ?? [] })
            : (WORDS[e.kind] ?? e.kind);

/** `rank`: undefined for all; what happens to the whole job is of every rank. Newest first. */
export const chosen = (events: readonly JobEvent[], group: Group, rank: number | undefined): JobEvent[] =>
  events
    .filter(
      (e) =>
        (group === 'everything' || GROUP_OF[e.kind] === group) &&
        (rank === undefined || (e.ranks?.includes(rank) ?? (e.task === undefined || e.task === rank))),
    )
    .toReversed();

/** All of them, in order; `start`: when the job began. */
export function eventsCsv(events: readonly JobEvent[], start: number): string {
  const rows = events.map((e) =>
    [
      new Date(e.at).toISOString(),
      String(e.at - start),
      e.kind,
      e.task ?? '',
      e.incarnation ?? '',
      csvCell(e.cause ?? ''),
    ].join(','),
  );
  return ['time,ms,event,rank,incarnation,cause', ...rows, ''].join('\n');
}
