/**
 * A rank of the soak of teams under a log: sends and receives in a drawn order. Each body begins with the number of
 * messages that each member had consumed before what the body depends on.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { startInTeam, TeamEndpoint } from '@mayfly/protocols';
import { WORLD, WorldMode, type TaskId } from '@mayfly/wire';
import { RankDevice } from '../src/rank/host-device.ts';
import { Teammates } from '../src/rank/teammates.ts';
import { RankSide } from '../src/ring/index.ts';
import { StatusWriter } from '../src/status.ts';

const { members, me, memory, shared, each, seed } = workerData as {
  members: TaskId[];
  me: number;
  memory: SharedArrayBuffer;
  shared: SharedArrayBuffer;
  each: number;
  seed: number;
};
let x = seed | 1;
const draw = (n: number): number => {
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return (x >>> 0) % n;
};
const task = members[me]!;
const team = new Teammates({ members, memory: shared }, task);
const side = new RankSide(memory, () => undefined, team.bell);
const status = new StatusWriter(
  side.words,
  () => side.nudge(),
  () => Date.now(),
);
const start = { incarnation: 1, limits: [], prologue: [], determinants: [], openPolls: 0, consumed: 0 };
const endpoint = new TeamEndpoint(task, 9, startInTeam(), start as never, { members });
const device = new RankDevice(side, endpoint, status, { size: 9 } as never, Date.now, Date.now, team);
const due = (): boolean => device.checkpointDue(false);
device.interrupted = due;
let serial = 0;
const image = (): void => {
  const wave = device.log!.wanted;
  const state = {
    sent: members.map((m) => endpoint.sent().find(([d]) => d === m)?.[1] ?? 0),
    consumed: members.map((m) => endpoint.received(m)),
  };
  device.image({ serial: ++serial, position: endpoint.position([]), wave }, [
    { name: 'state', parts: [new TextEncoder().encode(JSON.stringify(state))] },
  ]);
};

const depends = members.map(() => 0);
const body = (): Uint8Array => {
  const size = 4 * members.length + (draw(40) === 0 ? 4 * draw(30_000) : draw(3) === 0 ? 4 * draw(200) : 0);
  const words = new Uint32Array(size / 4);
  words.set(depends);
  return new Uint8Array(words.buffer);
};
const took = (a: { number: number; src: TaskId; size: number; body: Uint8Array | undefined }): void => {
  let bytes = a.body?.slice();
  if (!bytes) device.pull(a.number, (bytes = new Uint8Array(a.size)));
  const words = new Uint32Array(bytes.buffer, 0, members.length);
  words.forEach((n, i) => (depends[i] = Math.max(depends[i]!, n)));
  depends[me]!++;
  got++;
};
/** In rounds: nobody waits before it has sent what others wait for. */
const ROUND = 30;
const total = each * members.length;
let round = 0;
let left: TaskId[] = [];
let got = 0;
let polled: Parameters<typeof took>[0] | undefined;
while (left.length > 0 || got < total) {
  if (due()) image();
  if (left.length === 0 && got >= round * ROUND * members.length && round * ROUND < each) {
    round++;
    left = members.flatMap((m) => Array<TaskId>(ROUND).fill(m));
  }
  const what = draw(8);
  if (what < 3 && left.length > 0) {
    const i = draw(left.length);
    const dst = left[i]!;
    left[i] = left.at(-1)!;
    left.pop();
    device.send(dst, 1, 7, 0, 0, body());
  } else if (what === 3) device.send(WORLD, WorldMode.STDOUT, 0, 0, 0, body());
  else if (what === 4 && got < total) {
    device.poll((a) => {
      polled = { ...a, body: a.body?.slice() };
      return true;
    });
    if (polled) took(polled);
    polled = undefined;
  } else if (left.length === 0) {
    // Whoever has sent everything waits until it has everything of the round.
    const a = device.wait({ call: 'MPI_Recv' });
    if (a) took(a);
    else image();
  }
}
device.send(WORLD, WorldMode.STDOUT, 0, 0, 0, body());
parentPort!.postMessage({ got, events: depends[me] });
device.leave();
