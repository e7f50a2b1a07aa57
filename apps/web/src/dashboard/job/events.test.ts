import { expect, it } from 'vitest';
import { chosen, eventsCsv, eventText, type JobEvent } from './events.ts';

it('what happened in a job can be filtered by kind and rank, read in words, and taken along', () => {
  const events: JobEvent[] = [
    { at: 1000, kind: 'assigned', task: 0, incarnation: 0 },
    { at: 1000, kind: 'assigned', task: 1, incarnation: 0 },
    { at: 2000, kind: 'image', task: 1, incarnation: 0 },
    { at: 3000, kind: 'fault', task: 1, incarnation: 0, cause: 'goodbye' },
    { at: 3500, kind: 'server' },
  ];
  expect(chosen(events, 'everything', undefined).map((e) => e.kind)).toEqual([
    'server',
    'fault',
    'image',
    'assigned',
    'assigned',
  ]);
  expect(chosen(events, 'everything', 0).map((e) => e.kind)).toEqual(['server', 'assigned']);
  expect(chosen(events, 'faults', 1).map(eventText)).toEqual(['lost: the tab was closed or stopped']);
  const change: JobEvent = { at: 4000, kind: 'dissolved', ranks: [0, 1, 2], teams: [[0, 1]] };
  expect(chosen([...events, change], 'teams', 2).map(eventText)).toEqual([
    'the team of ranks 0, 1, 2 is dissolved: ranks 0, 1 go on as a team, 2 alone',
  ]);
  expect(chosen([...events, change], 'teams', 3)).toEqual([]);
  expect(eventsCsv(events.slice(3), 500)).toBe(
    'time,ms,event,rank,incarnation,cause\n' +
      '1970-01-01T00:00:03.000Z,2500,fault,1,0,goodbye\n1970-01-01T00:00:03.500Z,3000,server,,,\n',
  );
});
