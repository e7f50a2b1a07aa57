/** A job under `app` loses a rank: what the composed cores make of it (D18, D19, N1). */
import { describe, expect, it } from 'vitest';
import {
  Kind,
  MEMBERS,
  SpawnRefusal,
  decodeNotice,
  emptyHeader,
  encodeFrame,
  encodeMember,
  incarnation,
  jobId,
  nodeId,
  readFrames,
  taskId,
  type Attach,
  type ExitReport,
  type MemberNotice,
  type MemberRequest,
  type RankActivity,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import {
  CheckpointServer,
  Dispatcher,
  JobService,
  ServedLog,
  jobView,
  protocols,
  type DispatcherIo,
  type JobSpec,
  type LogIo,
} from '../../src/index.ts';

const job = jobId('abcdefghijkl');
const CMS = 2;
const TASKS = 3;
const plain: JobSpec = {
  id: job,
  name: 'test',
  size: TASKS,
  capacity: TASKS + 2,
  protocol: 'app',
  durability: 'behind',
  program: { language: 'c', entry: 'main.c', hash: 'ab'.repeat(32) },
  args: ['fast'],
  files: [],
  seed: 1,
  channelMemories: CMS,
  checkpointMs: 1000,
  interactive: false,
  limits: { memoryBytes: 1, fileBytes: 1 },
  submittedAt: 0,
};

/** Three ranks of one node, on two Channel Memories in memory. */
function started(ft?: JobSpec['ft']) {
  let now = 1000;
  const spec = { ...plain, ...(ft && { ft }) };
  const added: SpawnGroup[] = [];
  const io: DispatcherIo[] = [];
  const done: DispatcherIo[] = [];
  const s = new JobService(
    { dispatcher: new Dispatcher(), images: new CheckpointServer() },
    {
      now: () => now,
      dispatcher: (e) => void io.push(e),
      images: () => undefined,
      defect: (_core, _event, error) => {
        throw error;
      },
      commit: (_changes, then) => then(),
      log: () => undefined,
      replace: (_job, group) => void added.push(group),
    },
  );
  const settle = (): void => {
    for (let e = io.shift(); e; e = io.shift()) {
      done.push(e);
      if (e.type === 'persist') s.dispatch({ type: 'persisted', token: e.token });
    }
  };
  s.dispatch({
    type: 'hello',
    connection: 'c',
    fresh: nodeId('node'),
    name: 'n',
    engine: 'e',
    slots: TASKS,
    holds: [],
    images: [],
  });
  s.dispatch({ type: 'submit', job: spec });
  settle();
  const performed: LogIo[] = [];
  const logs = Array.from({ length: CMS }, (_, index) => {
    const log: ServedLog = new ServedLog(
      {
        policy: protocols.app.log,
        size: TASKS,
        index,
        count: CMS,
        durability: 'behind',
        authorise: (c) => ({ task: taskId(Number(c)), incarnation: incarnation(0) }),
        fresh: true,
        files: { answerable: () => 0, answer: () => undefined },
      },
      {
        perform: (e) => void performed.push(e),
        performed: () => undefined,
        broke: (error) => {
          throw error;
        },
        restart: () => undefined,
        mayPass: () => false,
      },
      s.answersOf(job),
    );
    return log;
  });
  s.open(job, logs);
  s.acting(spec, []);
  for (const log of logs) log.begin(log.newCore(), () => ({ records: [], next: 0 }));
  settle();
  return {
    s,
    settle,
    done,
    logs,
    performed,
    /** Notices in the arrivals of a task. */
    notices: (task: number): MemberNotice[] =>
      performed
        .flatMap((e) => (e.type === 'append' && e.stream === `t${task}` ? [...readFrames(e.bytes.slice())] : []))
        .flatMap((f) => (f.header.src === MEMBERS ? [decodeNotice(f.body)] : [])),
    exit: (task: number, report: ExitReport): void => {
      s.exited(job, taskId(task), incarnation(0), report);
      settle();
    },
    ask: (task: number, request: MemberRequest): boolean => s.askMembers(job, taskId(task), encodeMember(request)),
    added,
    /** As the host does with what is to be added. */
    grow: (): void => {
      for (const group of added.splice(0)) s.spawned(job, group, (_log, _size, done) => done(true));
      settle();
    },
    /** Seconds pass. */
    wait: (seconds: number): void => {
      for (let i = 0; i < seconds * 4; i++) {
        now += 250;
        // The ranks that are left run, and say so.
        const activity: RankActivity = { state: 'computing', arrivals: i, sends: i };
        const tasks = [0, 2].map((t) => ({
          job,
          task: taskId(t),
          incarnation: incarnation(0),
          started: true,
          activity,
        }));
        s.dispatch({ type: 'heartbeat', connection: 'c', tasks });
        s.tick();
        settle();
      }
    },
    kill: (task: number): void => {
      s.dispatch({ type: 'kill', job, task: taskId(task) });
      settle();
    },
    view: () => jobView(s.dispatcher, job, { task: () => ({}) as never, outputs: [], outputBytes: 0 })!,
  };
}

const attach = (task: TaskId): Uint8Array => {
  const h = emptyHeader(Kind.ATTACH);
  h.src = task;
  h.incarnation = incarnation(0);
  const position = protocols.app.recovery.start;
  const body: Attach = { capability: String(task), nonce: 'a-nonce-of-its-own', position, received: 0, resume: false };
  return encodeFrame(h, new TextEncoder().encode(JSON.stringify(body)));
};

describe('a job under "app"', () => {
  it('fences a rank that is killed, tells the others, and goes on without it', () => {
    const j = started();
    expect(j.done.filter((e) => e.type === 'assign')).toHaveLength(TASKS);
    j.s.dispatch({ type: 'kill', job, task: taskId(1) });
    j.settle();
    expect(j.done.filter((e) => e.type === 'revoke')).toMatchObject([{ task: 1 }]);
    for (const t of [0, 2]) expect(j.notices(t)).toEqual([{ op: 'lost', tasks: [1] }]);
    expect(j.notices(1)).toEqual([]);
    for (const log of j.logs) {
      log.step({ type: 'frames', conn: 1, bytes: attach(taskId(1)) });
      const answer = j.performed.filter((e) => e.type === 'send').at(-1)!;
      expect([...readFrames(answer.bytes)][0]!.header.kind).toBe(Kind.REFUSED);
    }
    expect(j.done.filter((e) => e.type === 'assign')).toHaveLength(TASKS);
    expect(j.view().tasks.map((t) => t.state)).toEqual(['assigned', 'failed', 'assigned']);
    j.exit(0, { code: 3 });
    expect(j.view().state).toBe('running');
    j.exit(2, { code: 0 });
    expect(j.view()).toMatchObject({ state: 'done', exitCode: 3 });
  });

  it('takes a process that traps, or leaves without MPI_Finalize, for one that fails', () => {
    const j = started();
    j.exit(0, { code: 1, unfinalized: true });
    j.exit(2, { code: 1, abort: { code: 'PROGRAM_TRAP', message: 'unreachable' } });
    expect(j.notices(1)).toEqual([
      { op: 'lost', tasks: [0] },
      { op: 'lost', tasks: [2] },
    ]);
    j.exit(1, { code: 0 });
    expect(j.view()).toMatchObject({ state: 'done', exitCode: 0 });
  });

  it('ends with MPI_Abort, and when nobody is left', () => {
    const aborted = started();
    aborted.exit(0, { code: 7, abort: { code: 'ABORTED', message: 'MPI_Abort' } });
    expect(aborted.view()).toMatchObject({ state: 'failed', exitCode: 7 });
    const lost = started();
    for (let t = 0; t < TASKS; t++) lost.exit(t, { code: 1, unfinalized: true });
    expect(lost.view()).toMatchObject({ state: 'failed', error: { code: 'LOST_NODES' } });
  });

  it('answers an agreement when the last member is lost or has contributed', () => {
    const j = started();
    const give = (task: number, flag: number): boolean =>
      j.ask(task, { op: 'agree', context: 0, members: [0, 1, 2], number: 0, flag, offer: 0, acknowledged: [] });
    expect([give(0, 6), give(1, 3)]).toEqual([true, true]);
    expect(j.notices(0)).toEqual([]);
    j.s.dispatch({ type: 'kill', job, task: taskId(2) });
    j.settle();
    const agreed = { op: 'agreed', context: 0, number: 0, flag: 2, offer: 0, lost: [2], unacknowledged: true };
    for (const t of [0, 1]) expect(j.notices(t)).toEqual([{ op: 'lost', tasks: [2] }, agreed]);
  });
});

describe('a job under FT-MPI’s modes', () => {
  const recover = (offer: number): MemberRequest => ({ op: 'recover', offer });

  it('REBUILD: a new task with the program and the arguments of the lost one takes its rank', () => {
    const j = started({ communicators: 'rebuild', messages: 'reset' });
    j.kill(1);
    expect(j.added).toEqual([{ first: 3, root: 1, parts: [{ args: ['fast'], count: 1 }], replaces: true }]);
    j.ask(0, recover(40));
    j.ask(2, recover(44));
    j.grow();
    expect(j.notices(3)).toEqual([{ op: 'lost', tasks: [1] }]);
    expect(j.view().tasks[3]).toMatchObject({ replaces: 1 });
    expect(j.notices(0)).toHaveLength(1);
    j.ask(3, recover(42));
    const all = { op: 'recovered', epoch: 1, ranks: [0, 3, 2], failed: [1], context: 44 };
    for (const t of [0, 2, 3]) expect(j.notices(t).at(-1)).toEqual(all);
    // The replacement of a replacement.
    j.kill(3);
    expect(j.added).toMatchObject([{ first: 4, root: 3, parts: [{ args: ['fast'] }] }]);
    j.grow();
    for (const t of [0, 2, 4]) j.ask(t, recover(50 + t));
    expect(j.notices(4).at(-1)).toMatchObject({ epoch: 2, ranks: [0, 4, 2], failed: [1] });
    for (const t of [0, 2, 4]) j.exit(t, { code: 0 });
    expect(j.view()).toMatchObject({ state: 'done', exitCode: 0 });
  });

  it('REBUILD without a free slot: the job says why it waits, and goes on when there is one', () => {
    const j = started({ communicators: 'rebuild', messages: 'reset' });
    const slots = (n: number): void => {
      j.s.dispatch({ type: 'slots', connection: 'c', slots: n });
      j.settle();
    };
    slots(2);
    j.kill(1);
    j.grow();
    expect(j.view().state).toBe('stalled');
    expect(j.view().reason).toBe(
      'rank 3 waits for a slot to take the place of rank 1; ' +
        'the recovery of the job waits for that, for 600 s at most',
    );
    slots(3);
    expect(j.view().state).toBe('running');
    expect(j.view().reason).toBeUndefined();
  });

  it('REBUILD ends the job when a replacement has been without a slot for long (N12)', () => {
    const without = (slotMs?: number) => {
      const j = started({ communicators: 'rebuild', messages: 'reset', ...(slotMs !== undefined && { slotMs }) });
      j.s.dispatch({ type: 'slots', connection: 'c', slots: 2 });
      j.kill(1);
      j.grow();
      return j;
    };
    const limited = without(5000);
    limited.wait(5);
    expect(limited.view().state).toBe('stalled');
    expect(limited.view().reason).toMatch(/for 5 s at most$/);
    limited.wait(0.5);
    expect(limited.view()).toMatchObject({
      state: 'failed',
      error: {
        code: 'LOST_NODES',
        message:
          'Rank 1 was lost, and rank 3, which was to take its place, found no slot within 5 s (option --ft-wait).',
      },
    });
    const usual = without();
    usual.wait(590);
    expect(usual.view().state).toBe('stalled');
    usual.wait(15);
    expect(usual.view().state).toBe('failed');
    const forEver = without(0);
    forEver.wait(700);
    expect(forEver.view().state).toBe('stalled');
    expect(forEver.view().reason).toMatch(/waits for that$/);
  });

  it('REBUILD: the time in which the server cannot write does not count (N12)', () => {
    const j = started({ communicators: 'rebuild', messages: 'reset', slotMs: 5000 });
    j.s.dispatch({ type: 'slots', connection: 'c', slots: 2 });
    j.kill(1);
    j.grow();
    j.wait(4);
    j.s.dispatch({ type: 'storage', error: { code: 'DISK_FULL', message: 'full' } });
    j.wait(10);
    j.s.dispatch({ type: 'storage' });
    j.wait(4);
    expect(j.view().state).toBe('stalled');
    j.wait(1.5);
    expect(j.view().state).toBe('failed');
  });

  it('REBUILD ends the job when there are no numbers left, and starts nothing else', () => {
    const j = started({ communicators: 'rebuild', messages: 'reset' });
    expect(
      j.s.spawnRefusal({ ...plain, ft: { communicators: 'rebuild', messages: 'reset' } }, taskId(0), 1, 3, 0),
    ).toBe(SpawnRefusal.LIMIT);
    for (const task of [1, 3, 4]) {
      j.kill(task);
      j.grow();
    }
    expect(j.view()).toMatchObject({ state: 'failed', error: { code: 'LOST_NODES' } });
  });

  it.each(['blank', 'shrink'] as const)('%s: nobody is added', (communicators) => {
    const j = started({ communicators, messages: 'cont' });
    j.kill(1);
    j.ask(0, recover(40));
    expect(j.notices(0)).toHaveLength(1);
    j.ask(2, recover(44));
    expect(j.notices(2).at(-1)).toMatchObject({ ranks: communicators === 'blank' ? [0, -1, 2] : [0, 2], failed: [1] });
    expect(j.added).toEqual([]);
  });

  it('ABORT: "like any other MPI implementation, FT-MPI can abort on an error"', () => {
    const j = started({ communicators: 'abort', messages: 'reset' });
    j.kill(1);
    expect(j.view()).toMatchObject({ state: 'failed', error: { code: 'LOST_NODES' } });
    const traps = started({ communicators: 'abort', messages: 'reset' });
    traps.exit(1, { code: 1, abort: { code: 'PROGRAM_TRAP', message: 'unreachable' } });
    expect(traps.view()).toMatchObject({ state: 'failed', error: { code: 'PROGRAM_TRAP' } });
  });
});
