/**
 * Teams under the pessimistic log on a real server with headless nodes (docs/teams.md): the loss of a node, of a rank
 * and of the server change nothing in what a program computes. Rank 0 deals work out to whoever asks for it, so the
 * choice of a source decides who does what, and each rank's sums show whether it was repeated.
 */
import { protocols } from '@mayfly/protocols';
import { patient } from '@mayfly/testing';
import type { TimelineView } from '@mayfly/wire';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { HeadlessNode } from '../src/headless/index.ts';
import { Bench, PATIENCE } from './harness.ts';
import { losesNodeAndRank } from './team-losses.ts';

const bench = new Bench({ dispatcher: { ...PATIENCE, moveAfterMs: 1500, mergeAfterMs: 1500 } });
beforeAll(() => bench.start());
afterEach(() => bench.clear(0));
afterAll(() => bench.close());

/**
 * Each unit of work is a number; a worker answers with a hash, and passes a copy to the next worker, which adds it to
 * its own sum. All together is the same in every run; each message that were lost or came twice would change it.
 * With a third argument the last units wait for a line of input, so that the job outlasts what is done to it.
 */
const WORK = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned mix(unsigned h) { h ^= h >> 16; h *= 0x7feb352dU; h ^= h >> 15; h *= 0x846ca68bU; return h ^ h >> 16; }
static void spin(int n) { volatile unsigned h = 1; for (int i = 0; i < n; i++) h = mix(h + i); }
int main(int argc, char **argv) {
  int rank, size, units = atoi(argv[1]), work = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static unsigned block[20000];
  unsigned sum = 0, word, all, count = 0;
  MPI_Status s;
  if (rank == 0) {
    int dealt = 0, answers = 0, stopped = 0;
    unsigned order = 0;
    while (stopped < size - 1) {
      int flag = 0;
      if (dealt % 3 == 0) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &s);
      MPI_Recv(&word, 1, MPI_UNSIGNED, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
      order = mix(order + s.MPI_SOURCE);
      char line[80];
      if (argc > 3 && dealt == units - 50 && !fgets(line, sizeof line, stdin)) return 3;
      if (word) { sum += word; answers++; }
      if (dealt < units) { word = ++dealt; MPI_Send(&word, 1, MPI_UNSIGNED, s.MPI_SOURCE, 2, MPI_COMM_WORLD); }
      else { word = 0; MPI_Send(&word, 1, MPI_UNSIGNED, s.MPI_SOURCE, 2, MPI_COMM_WORLD); stopped++; }
    }
    printf("%d answers\\n", answers);
  } else {
    int next = rank % (size - 1) + 1, more = 1, left = 0, got = 0;
    word = 0;
    MPI_Send(&word, 1, MPI_UNSIGNED, 0, 1, MPI_COMM_WORLD);
    while (more) {
      MPI_Recv(&word, 1, MPI_UNSIGNED, 0, 2, MPI_COMM_WORLD, &s);
      if (word == 0) { more = 0; break; }
      spin(work);
      word = mix(word) | 1;
      int n = word % 50 == 0 ? 20000 : word % 7;
      for (int i = 0; i < n; i++) block[i] = word + i;
      MPI_Send(block, n, MPI_UNSIGNED, next, 3, MPI_COMM_WORLD);
      left++;
      MPI_Send(&word, 1, MPI_UNSIGNED, 0, 1, MPI_COMM_WORLD);
      int flag = 1;
      while (flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &s);
        if (!flag) break;
        MPI_Recv(block, 20000, MPI_UNSIGNED, s.MPI_SOURCE, 3, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, MPI_UNSIGNED, &n);
        for (int i = 0; i < n; i++) sum += mix(block[i]);
        got++;
      }
    }
    MPI_Send(&left, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
    int due;
    MPI_Recv(&due, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &s);
    for (; got < due; got++) {
      int n;
      MPI_Recv(block, 20000, MPI_UNSIGNED, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &s);
      MPI_Get_count(&s, MPI_UNSIGNED, &n);
      for (int i = 0; i < n; i++) sum += mix(block[i]);
    }
  }
  MPI_Allreduce(&sum, &all, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  printf("sum %u\\n", all);
  MPI_Finalize();
  return 0;
}`;

async function submit(team: number, units: number, work: number, waits = false): Promise<string> {
  const answer = await bench.api('jobs', {
    method: 'POST',
    body: JSON.stringify({
      program: { language: 'c', sources: { 'main.c': WORK } },
      size: 4,
      args: [String(units), String(work), ...(waits ? ['waits'] : [])],
      options: { timeLimitMs: patient(300_000), checkpointMs: 300, team, mapBy: 'slot', interactive: waits },
    }),
  });
  return ((await answer.json()) as { id: string }).id;
}

const last = (stdout: string[]): string[] =>
  stdout.map((s) =>
    s
      .split('\n')
      .filter((l) => l.startsWith('sum'))
      .join(),
  );

async function answer(id: string): Promise<string[]> {
  const { job, stdout, stderr } = await bench.ended(id);
  expect([job.error, stderr.join('')]).toEqual([undefined, '']);
  return last(stdout);
}

let right: string[] | undefined;
/** The answer of a run in which nobody leaves. */
async function undisturbed(): Promise<string[]> {
  right ??= await answer(await submit(1, 1500, 0));
  expect(new Set(right).size).toBe(1);
  return right;
}

/** A job whose team of four has lost its node, and shares the two slots of another one. */
async function onTwoSlots(
  goes: (first: HeadlessNode) => void | Promise<void>,
): Promise<{ id: string; right: string[] }> {
  const first = await bench.node(4, 'a');
  const right = await undisturbed();
  const id = await submit(4, 1500, 200_000, true);
  await bench.until(id, (j) => j.tasks.every((t) => t.state === 'running' && t.team === 0));
  await bench.node(2, 'b');
  await bench.works(id);
  await goes(first);
  await bench.until(
    id,
    (j) => j.tasks.every((t) => t.state === 'running') && j.reason?.includes('share 2 slots') === true,
  );
  return { id, right };
}

/**
 * Somebody leaves with a team, and a node with too few slots takes it, until another one comes. That one leaves as
 * well, and only several others together have slots for its ranks.
 */
it('T8, T9: a team moves to where it has room; in several nodes it goes on together where one has two slots', async () => {
  const { id, right } = await onTwoSlots((first) => first.close(20_000));
  const roomy = await bench.node(4, 'e');
  await bench.until(id, (j) => j.tasks.every((t) => t.state === 'running') && j.reason === undefined);
  const moved = await bench.view(id);
  expect(new Set(moved.tasks.map((t) => t.node)).size).toBe(1);
  // It was no fault.
  expect(moved.faults).toHaveLength(4);

  for (const [name, slots] of [
    ['c', 1],
    ['d', 1],
  ] as const)
    await bench.node(slots, name);
  await bench.works(id);
  await roomy.close(20_000);
  await bench.until(id, (j) => String(j.tasks.map((t) => t.state === 'running' && (t.team ?? '-'))) === '0,0,-,-');
  const { tasks } = await bench.view(id);
  expect(new Set(tasks.map((t) => t.node)).size).toBe(3);
  // The two are lost together, each of the others alone.
  await bench.works(id);
  await bench.api(`jobs/${id}/tasks/1/kill`, { method: 'POST' });
  await bench.works(id);
  await bench.api(`jobs/${id}/tasks/2/kill`, { method: 'POST' });
  await bench.recovered(id, 11);
  // A node comes that has room for all: they are a team again.
  await bench.node(4, 'f');
  await bench.until(id, (j) => j.tasks.every((t) => t.state === 'running' && t.team === 0));
  const merged = await bench.view(id);
  expect([new Set(merged.tasks.map((t) => t.node)).size, merged.faults.length]).toEqual([1, 11]);
  // …which is lost together.
  await bench.works(id);
  await bench.api(`jobs/${id}/tasks/3/kill`, { method: 'POST' });
  await bench.recovered(id, 15);
  await bench.input(id, 'go');
  expect(await answer(id)).toEqual(right);
  const faults = (await bench.view(id)).faults.map((f) => `${f.task} ${f.cause}`);
  const later = faults.slice(8);
  expect(later).toEqual(['1 killed', '0 team', '2 killed', '3 killed', '0 team', '1 team', '2 team']);
  // People see what became of the team.
  const changes = [
    { what: 'moved', ranks: [0, 1, 2, 3], teams: [[0, 1, 2, 3]] },
    { what: 'dissolved', ranks: [0, 1, 2, 3], teams: [[0, 1]] },
    { what: 'merged', ranks: [0, 1, 2, 3], teams: [[0, 1, 2, 3]] },
  ];
  expect((await bench.view(id)).teamChanges).toMatchObject(changes);
  const { events } = (await (await bench.api(`jobs/${id}/timeline`)).json()) as TimelineView;
  expect(events.filter((e) => e.ranks)).toMatchObject(changes.map(({ what: kind, ...c }) => ({ kind, ...c })));
});

it('T9: a team that runs on too few slots goes on in several nodes, once together they have enough', async () => {
  const { id, right } = await onTwoSlots((first) => first.kill());
  const { faults } = await bench.view(id);
  await bench.node(2, 'c');
  await bench.until(id, (j) => String(j.tasks.map((t) => t.state === 'running' && t.team)) === '0,0,2,2');
  const { tasks, teamChanges, faults: since } = await bench.view(id);
  expect([new Set(tasks.map((t) => t.node)).size, since.length]).toEqual([2, faults.length]);
  const teams = [
    [0, 1],
    [2, 3],
  ];
  expect(teamChanges).toMatchObject([{ what: 'dissolved', ranks: [0, 1, 2, 3], teams }]);
  await bench.api(`jobs/${id}/tasks/2/kill`, { method: 'POST' });
  await bench.recovered(id, faults.length + 2);
  await bench.input(id, 'go');
  expect(await answer(id)).toEqual(right);
});

/** Until the row of the protocol has teams, the server refuses them. */
describe.skipIf(!protocols.pessimistic.teams).each([4, 2])('teams of %i under the log', (team) => {
  it('a node and a rank are killed in the middle: the answer of an undisturbed run', async () => {
    for (const name of ['a', 'b', 'c']) await bench.node(4, name);
    const right = await undisturbed();
    expect(await answer(await submit(team, 1500, 0))).toEqual(right);

    const id = await submit(team, 1500, 400_000, true);
    await losesNodeAndRank(bench, team, id, async () => expect(await answer(id)).toEqual(right));
  });
});
