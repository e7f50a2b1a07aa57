import { expect, it } from 'vitest';
import { busiest, callsOf, csvOf, placesOf, sumOf, type RankTimes } from './profile.ts';

const rank = (
  n: number,
  ms: RankTimes['ms'],
  ...calls: [string, number, number, ...[string, number][]][]
): RankTimes => ({
  rank: n,
  ms,
  calls: calls.map(([call, ms, times, ...places]) => ({
    call,
    ms,
    times,
    places: places.map(([place, of]) => ({ place, ms: of })),
  })),
});

it('sums a profile by kind and by call, names who waited longest and who computed longest', () => {
  const ranks = [
    rank(0, { computing: 900, waiting: 100 }, ['MPI_Recv', 60, 3, ['pair<"x", int>', 50]], ['MPI_Barrier', 40, 1]),
    rank(1, { computing: 300, waiting: 500, dead: 200 }, ['MPI_Barrier', 500, 2, ['main (a.c:3)', 400], ['solve', 90]]),
  ];
  expect(sumOf(ranks)).toEqual({ ms: { computing: 1200, waiting: 600, dead: 200 }, all: 2000 });
  expect(callsOf(ranks)).toEqual([
    { call: 'MPI_Barrier', ms: 540, times: 3, rank: 1, most: 500 },
    { call: 'MPI_Recv', ms: 60, times: 3, rank: 0, most: 60 },
  ]);
  expect(placesOf(ranks)).toEqual([
    { place: 'main (a.c:3)', call: 'MPI_Barrier', ms: 400, rank: 1, most: 400 },
    { place: 'solve', call: 'MPI_Barrier', ms: 90, rank: 1, most: 90 },
    { place: 'pair<"x", int>', call: 'MPI_Recv', ms: 50, rank: 0, most: 50 },
  ]);
  expect(busiest(ranks)).toEqual({ rank: 0, ms: 900, ofMean: 1.5 });
  expect([busiest([ranks[0]!]), busiest([rank(0, {}), rank(1, {})])]).toEqual([undefined, undefined]);
  expect(csvOf(ranks).split('\n')).toEqual([
    'rank,kind,call,ms,times,place',
    ...[
      '0,computing,,900,,',
      '0,waiting,,100,,',
      '0,waiting,MPI_Recv,60,3,',
      '0,waiting,MPI_Barrier,40,1,',
      '0,waiting at,MPI_Recv,50,,"pair<""x"", int>"',
    ],
    ...[
      '1,computing,,300,,',
      '1,waiting,,500,,',
      '1,dead,,200,,',
      '1,waiting,MPI_Barrier,500,2,',
      '1,waiting at,MPI_Barrier,400,,main (a.c:3)',
      '1,waiting at,MPI_Barrier,90,,solve',
    ],
    '',
  ]);
});
