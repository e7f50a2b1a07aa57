import { DeadlockWatch, STABLE_MS, type TaskObservation } from '@mayfly/protocols';
import { incarnation, taskId, WORLD } from '@mayfly/wire';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { drawingOf, waitsOf } from './deadlock.ts';
import { JobError } from './JobError.tsx';
import { WaitPicture } from './WaitPicture.tsx';

const observed = (task: number, peer?: number, call = 'MPI_Recv'): TaskObservation => ({
  task: taskId(task),
  state: 'running',
  incarnation: incarnation(0),
  activity: {
    state: 'waiting',
    call,
    arrivals: 0,
    sends: 0,
    tag: 7,
    place: `main (ring.c:${task})`,
    ...(peer === undefined ? {} : { peer: peer === WORLD ? WORLD : taskId(peer) }),
  },
  arrivalsLogged: 0,
  sendsLogged: 0,
});
const ended = (task: number): TaskObservation => ({ ...observed(task), state: 'done' });

/** The error of a job whose ranks wait like this, in the words of the server itself. */
const errorOf = (...tasks: TaskObservation[]) => {
  const watch = new DeadlockWatch();
  watch.observe({ now: 0, tasks, stdinOpen: false });
  return { code: 'DEADLOCK', message: watch.observe({ now: STABLE_MS, tasks, stdinOpen: false })!.report };
};

const numbersIn = (path: string): number[] => path.match(/-?\d+(\.\d+)?/g)!.map(Number);
/** Coordinates along a cubic curve. */
function pointsOf(line: string): number[] {
  const n = numbersIn(line);
  return [0, 0.25, 0.5, 0.75, 1].flatMap((t) =>
    [0, 1].map(
      (i) =>
        (1 - t) ** 3 * n[i]! + 3 * (1 - t) ** 2 * t * n[2 + i]! + 3 * (1 - t) * t ** 2 * n[4 + i]! + t ** 3 * n[6 + i]!,
    ),
  );
}

describe('a deadlock', () => {
  it('is read from the report of the server: who waits in what for whom, and the ring', () => {
    expect(waitsOf(errorOf(observed(0, 1), observed(1, 2), observed(2, 1), observed(3)))).toEqual({
      waits: [
        { rank: 0, peer: 1, text: 'in MPI_Recv for rank 1, tag 7, at main (ring.c:0)' },
        { rank: 1, peer: 2, text: 'in MPI_Recv for rank 2, tag 7, at main (ring.c:1)' },
        { rank: 2, peer: 1, text: 'in MPI_Recv for rank 1, tag 7, at main (ring.c:2)' },
        { rank: 3, peer: undefined, text: 'in MPI_Recv for any rank, tag 7, at main (ring.c:3)' },
      ],
      cycle: [1, 2],
    });
    expect(waitsOf(errorOf(observed(0, WORLD, 'stdin')))?.waits[0]?.text).toContain('standard input, which has ended');
    expect(waitsOf({ code: 'ABORTED', message: 'rank 0 waits in MPI_Recv for rank 1' })).toBeUndefined();
  });

  it('is drawn: a circle for each rank, an arrow for each wait, those of the ring in red', () => {
    const { circles, arrows } = drawingOf(waitsOf(errorOf(observed(0, 1), observed(1, 2), observed(2, 1)))!)!;
    expect(circles.map((c) => [c.rank, c.ring]).sort()).toEqual([
      [0, false],
      [1, true],
      [2, true],
    ]);
    expect(arrows.map((a) => [a.from, a.to, a.ring])).toEqual([
      [0, 1, false],
      [1, 2, true],
      [2, 1, true],
    ]);
    // The two arrows of a pair are two lines, and no circle lies on another.
    expect(new Set(arrows.map((a) => a.line)).size).toBe(3);
    for (const a of circles)
      for (const b of circles) if (a !== b) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(40);
  });

  it('all of the drawing is within it: a ring of sixteen, a pair, and a rank that waits for itself', () => {
    const ring = Array.from({ length: 16 }, (_, i) => observed(i, (i + 1) % 16));
    for (const tasks of [ring, [observed(0, 1), observed(1, 0)], [observed(0, 0)]]) {
      const { size, circles, arrows } = drawingOf(waitsOf(errorOf(...tasks))!)!;
      for (const { x, y } of circles) expect(Math.min(x, y, size - x, size - y)).toBeGreaterThanOrEqual(17);
      for (const { line, head } of arrows)
        for (const n of [...pointsOf(line), ...numbersIn(head)]) {
          expect(n).toBeGreaterThanOrEqual(0);
          expect(n).toBeLessThanOrEqual(size);
        }
    }
  });

  it('of many ranks those alone that wait for each other are drawn, and nothing where nobody waits for one rank', () => {
    const many = Array.from({ length: 40 }, (_, i) => observed(i, i === 1 ? 0 : i === 0 ? 1 : i - 1));
    expect(drawingOf(waitsOf(errorOf(...many))!)!.circles.map((c) => c.rank)).toEqual([0, 1]);
    expect(drawingOf(waitsOf(errorOf(observed(0), observed(1)))!)).toBeUndefined();
  });

  it('is open at once, with the list, and its sentence does not end in a colon', () => {
    const html = renderToStaticMarkup(<JobError late={false} error={errorOf(observed(0, 1), observed(1, 0))} />);
    expect(html).toContain('aria-expanded="true"');
    expect(html).toContain('<strong class="title">Deadlock: all 2 unfinished ranks are waiting and no message is');
    expect(html).toContain('in flight.</strong>');
    expect(html).toContain('aria-label="rank 0 waits for rank 1, rank 1 waits for rank 0"');
    expect(html).toContain('rank 1 waits in MPI_Recv for rank 0, tag 7, at main (ring.c:1)');
    // Another error is opened by its reader.
    const other = { code: 'PROGRAM_FAILED', message: 'boom\n  at f' };
    expect(renderToStaticMarkup(<JobError late={false} error={other} />)).toContain('aria-expanded="false"');
  });

  it('says which of the circles is a rank that has ended', () => {
    const html = renderToStaticMarkup(<WaitPicture of={waitsOf(errorOf(observed(0, 1), ended(1)))!} />);
    expect(html).toContain('Dashed: a rank that has ended.');
    expect(html).not.toContain('Red:');
  });
});
