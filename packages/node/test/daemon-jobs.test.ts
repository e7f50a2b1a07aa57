/** What the daemon does with the frames of jobs: when one is dead, and which one the next job gets (daemon/jobs.ts). */
import { describe, expect, it } from 'vitest';
import type { Assignment, TaskReport } from '@mayfly/wire';
import { memoryImages } from '@mayfly/checkpoint';
import { Jobs } from '../src/daemon/jobs.ts';
import { Parity } from '../src/daemon/parity.ts';
import type { DaemonSeams } from '../src/daemon/seams.ts';

/** Of a node that is in no parity group. */
const noParity = new Parity({
  images: memoryImages(),
  after: () => () => undefined,
  send: async () => false,
  answer: () => undefined,
  note: () => undefined,
});

/** What they report goes into `crashed`. */
function jobsOf(seams: DaemonSeams): { jobs: Jobs; crashed: TaskReport[] } {
  const crashed: TaskReport[] = [];
  const nothing = (): void => undefined;
  const events = {
    onReport: (r: TaskReport) => void crashed.push(r),
    onEnded: nothing,
    onLast: nothing,
    onImage: nothing,
    onChange: nothing,
    onNote: nothing,
  };
  return { jobs: new Jobs(seams, events, noParity), crashed };
}

describe('the watchdog over frames (jobs J2)', () => {
  /** Jobs with one frame that says nothing by itself, and a clock that the test moves. */
  async function watched(tells: boolean): Promise<{ seconds(n: number): void; answer(): void; crashed: TaskReport[] }> {
    let now = 0;
    let due: { at: number; run: () => void }[] = [];
    let answer: (m: never) => void = () => undefined;
    const seams = {
      openFrame: async () => ({
        channel: {
          post: () => undefined,
          onMessage: (h: typeof answer) => (answer = h),
          onClose: () => undefined,
          close: () => undefined,
        },
        onDeath: () => undefined,
        tells,
        close: () => undefined,
      }),
      spareFrame: false,
      images: { list: async () => [] },
      now: () => now,
      after(ms: number, run: () => void) {
        const entry = { at: now + ms, run };
        due.push(entry);
        return () => (due = due.filter((e) => e !== entry));
      },
    } as unknown as DaemonSeams;
    const { jobs, crashed } = jobsOf(seams);
    await jobs.assign({ job: 'job', task: 0, incarnation: 0 } as unknown as Assignment, 0, 'here');
    return {
      seconds(n) {
        for (let i = 0; i < n; i++) {
          now += 1000;
          const ready = due.filter((e) => e.at <= now);
          due = due.filter((e) => e.at > now);
          for (const e of ready) e.run();
        }
      },
      answer: () => answer({ type: 'pong', n: 0 } as never),
      crashed,
    };
  }

  it(
    'a frame that answered, and then does not, is dead after six pings; one that is still being started is ' +
      'waited for',
    async () => {
      const frame = await watched(false);
      frame.seconds(30);
      expect(frame.crashed).toEqual([]);
      frame.answer();
      frame.seconds(6);
      expect(frame.crashed).toEqual([]);
      frame.seconds(2);
      expect(frame.crashed).toMatchObject([{ task: 0, event: 'crashed' }]);
    },
  );

  it('a frame that answered late once is waited for three times as long, and for a minute at most', async () => {
    const frame = await watched(false);
    frame.answer();
    frame.seconds(5);
    frame.answer(); // the fifth ping is under way as every one is, so four came to nothing
    frame.seconds(18);
    expect(frame.crashed).toEqual([]);
    frame.answer();
    frame.seconds(57);
    expect(frame.crashed).toEqual([]);
    frame.seconds(5);
    expect(frame.crashed).toMatchObject([{ task: 0, event: 'crashed' }]);
  });

  it('where the host tells of deaths, silence is a busy machine for a minute', async () => {
    const frame = await watched(true);
    frame.answer();
    frame.seconds(59);
    expect(frame.crashed).toEqual([]);
    frame.seconds(3);
    expect(frame.crashed).toMatchObject([{ task: 0, event: 'crashed' }]);
  });
});

it('a rank that is taken back before its frame has heard of it never starts there', async () => {
  const posted: unknown[] = [];
  let listed: () => void = () => undefined;
  const { jobs } = jobsOf({
    openFrame: async () => ({
      channel: {
        post: (m: { type: string; assignment?: Assignment }) =>
          void posted.push(m.type === 'assign' ? m.assignment!.incarnation : m.type),
        onMessage: () => undefined,
        onClose: () => undefined,
        close: () => undefined,
      },
      onDeath: () => undefined,
      tells: true,
      close: () => undefined,
    }),
    spareFrame: false,
    // The images of a restart are looked for on the disk.
    images: { list: () => new Promise<never[]>((resolve) => (listed = () => resolve([]))) },
    now: () => 0,
    after: () => () => undefined,
  } as unknown as DaemonSeams);
  const restart = (incarnation: number): Promise<void> =>
    jobs.assign({ job: 'job', task: 0, incarnation, manifest: { image: 'i' } } as unknown as Assignment, 0, 'here');
  const first = restart(4);
  await new Promise(setImmediate);
  const lists = [listed];
  jobs.revoke({ job: 'job', task: 0, incarnation: 4 } as unknown as Assignment);
  expect([...jobs.held()]).toEqual([]);
  const second = restart(5);
  await new Promise(setImmediate);
  lists.push(listed);
  for (const done of lists) done();
  await Promise.all([first, second]);
  expect(posted).toEqual([5]);
});

describe('the spare frame (jobs J4)', () => {
  it(
    'is there before the first job, serves one job, is replaced when that is over, and is not used when it ' +
      'died or would not open',
    async () => {
      const frames: {
        id: number;
        open: boolean;
        posted: { type: string }[];
        die(why: string): void;
        say(m: object): void;
      }[] = [];
      let refuse = false;
      let due: (() => void)[] = [];
      const seams = {
        openFrame: async () => {
          if (refuse) throw new Error('no frame');
          let died: (why: string) => void = () => undefined;
          const heard: ((m: never) => void)[] = [];
          const f = {
            id: frames.length,
            open: true,
            posted: [] as { type: string }[],
            die: (why: string) => died(why),
            say: (m: object) => heard.forEach((h) => h(m as never)),
          };
          frames.push(f);
          return {
            channel: {
              post: (m: never) => f.posted.push(m),
              onMessage: (h: (m: never) => void) => heard.push(h),
              onClose: () => undefined,
              close: () => undefined,
            },
            onDeath: (h: typeof died) => (died = h),
            tells: false,
            close: () => (f.open = false),
          };
        },
        spareFrame: true,
        images: { list: async () => [], forget: async () => undefined },
        now: () => 0,
        after: (_ms: number, run: () => void) => (due.push(run), () => (due = due.filter((d) => d !== run))),
      } as unknown as DaemonSeams;
      const { jobs, crashed } = jobsOf(seams);
      const assign = (job: string, task = 0): Promise<void> =>
        jobs.assign({ job, task, incarnation: 0 } as unknown as Assignment, 0, 'here');
      const assigned = (): number[] => frames.filter((f) => f.posted.some((m) => m.type === 'assign')).map((f) => f.id);
      const settle = (): Promise<void> => new Promise((r) => setImmediate(r));
      await assign('cold');
      expect(assigned()).toEqual([0]);
      jobs.warm();
      await settle();
      // A node with ranks keeps none.
      expect(frames).toHaveLength(1);
      frames[0]!.die('gone');
      await settle();
      expect(crashed).toHaveLength(1);
      expect(frames.map((f) => f.open)).toEqual([false, true]);
      await Promise.all([assign('first'), assign('second'), assign('first', 1)]);
      expect(assigned()).toEqual([0, 1, 2]);
      expect(frames[1]!.posted.filter((m) => m.type === 'assign')).toHaveLength(2);
      for (const [f, task] of [
        [1, 0],
        [1, 1],
        [2, 0],
      ])
        frames[f!]!.say({ type: 'ended', task, incarnation: 0, how: 'finished' });
      for (const run of due.splice(0)) run();
      await settle();
      expect(frames.map((f) => f.open)).toEqual([false, false, false, true]);
      frames[3]!.die('out of memory');
      expect(crashed).toHaveLength(1);
      await assign('third');
      expect(assigned()).toEqual([0, 1, 2, 4]);
      refuse = true;
      frames[4]!.die('gone');
      await settle();
      refuse = false;
      await assign('fourth');
      expect(assigned()).toEqual([0, 1, 2, 4, 5]);
      jobs.closeAll();
      await settle();
      expect(frames.filter((f) => f.open)).toEqual([]);
    },
  );
});
