/**
 * Operation-level checkpoints in a job whose losses are told (protocol `app`): the calls over team.ts and plan.ts.
 * docs/mpi-ckpt.md describes them for those who write programs.
 *
 * Joining (MPI_Ckpt_open, MPI_Ckpt_ctrl) is what the paper calls the gathering of the global status: an agreement that
 * all have come, which also makes the team's communicator; an exchange of what each brings; the plan, the same at all;
 * what it moves; and one more agreement that everybody has everything. A process that fails in between says so there,
 * and revokes the team's communicator, so that nobody waits for it.
 */
import { MPIError, ERR, fail, thenLetGo, type ErrorClass } from '../errors.ts';
import { part } from '../buffers.ts';
import * as collectives from '../collectives/index.ts';
import { COMM_WORLD } from '../constants.ts';
import { lostOf } from '../failure/broken.ts';
import { agree, revoke, shrink } from '../failure/calls.ts';
import { commOf, releaseSpace, scratch, type Layer } from '../layer.ts';
import { waitUntil } from '../progress.ts';
import * as requests from '../requests.ts';
import { openOf, step, takeEarly } from './arrivals.ts';
import * as disk from './disk.ts';
import type { Codes, Format } from './codes.ts';
import { Algorithm, NO_CHECK, protection } from './options.ts';
import { newcomer, planOf, type Plan, type Share } from './plan.ts';
import type { CommRecord } from '../state.ts';
import type { Checkpoints, Membership, Service, Settings } from './state.ts';
import { Team, Word } from './team.ts';

export * from './options.ts';
export * from './numbers.ts';
export type { Codes, Format, Settings };
export type { Sum, GroupSize, Code } from './codes.ts';
const RATIO = 1000;
const MEMORY_MB = 256;
const CHECKED = 3;
/** Ranks whose coming one agreement tells; a bit above theirs says what they have come for. */
const BITS = 24;
const JOIN = 1 << BITS;

const text = new TextEncoder();
const read = new TextDecoder();

interface Brings {
  share: Share;
  settings: Settings;
  /** Nobody is lost, as far as it knows, and it wants messages to be counted. */
  checks: boolean;
}

/**
 * [MPI_Ckpt_open, MPI_Ckpt_ctrl]
 * @param node the name of the place where this process runs
 * @param numbers how its data become numbers
 */
export function join(
  layer: Layer,
  handle: number,
  settings: Settings,
  node: string,
  call: string,
  numbers: Format,
): void {
  const ckpt = layer.ckpt!;
  const comm = commOf(layer, handle, call);
  ckpt.node = node;
  ckpt.service ??= agreements(layer);
  if (comm.holes) fail(ERR.COMM, call, `${comm.name} has holes (FT-MPI's mode blank)`, handle);
  if (ckpt.present?.team.state === 'open') leave(layer, ckpt.present, call);
  const team = gather(layer, comm, call);
  ckpt.joining = { comm: team, request: 0, team: undefined, early: [], folder: '', slot: 1 };
  thenLetGo(
    () => {
      const wrong = attempt(() => begin(layer, ckpt, comm, settings, node, call, numbers));
      const joining = ckpt.joining!;
      let whole = false;
      if (wrong) {
        // Nobody waits for what this process does not send any more.
        if (byLoss(wrong)) revoke(layer, team, call);
        agreement(layer, agree(layer, team, Word.NOTHING, call));
      } else {
        waitUntil(
          layer,
          () => joining.team!.state !== 'beginning',
          () => ({ call }),
        );
        whole = joining.team!.state === 'open';
      }
      if ((wrong && byLoss(wrong)) || lostOf(layer, commOf(layer, team, call)).length > 0)
        if (!whole) fail(ERR.PROC_FAILED, call, AGAIN, handle);
      if (wrong) throw new MPIError(wrong.errorClass, call, wrong.text, handle);
      if (!whole) fail(ERR.CHECKPOINT, call, 'another process could not take part', handle);
      ckpt.adopt(joining as Membership, handle, settings, joining.folder, joining.slot);
      ckpt.numbers = numbers;
    },
    () => void (ckpt.joining = undefined),
  );
}

const agreements = (layer: Layer): Service => ({
  contribute: (comm, word) => agree(layer, comm, word, 'MPI_Ckpt_here'),
  decided(request) {
    const [done] = requests.completed(layer, [request]);
    const agreed = done?.outcome.agreed;
    return done && { word: agreed?.flag ?? 0, lost: !agreed || agreed.lost.length > 0 };
  },
});

const AGAIN = 'a process has failed: make another communicator (MPIX_Comm_shrink), and call it again';
const byLoss = (e: MPIError): boolean => e.errorClass === ERR.PROC_FAILED || e.errorClass === ERR.REVOKED;

/** What is under way is decided: it counts in the next team. Whoever has begun no round does not hold the others up. */
function leave(layer: Layer, present: Membership, call: string): void {
  const { team } = present;
  const quiet = (): boolean => !team.waits;
  const why = (): { call: string } => ({ call });
  waitUntil(layer, quiet, why);
  while (team.state === 'open') {
    step(layer, present, { type: 'leave' });
    waitUntil(layer, quiet, why);
    if (team.problem !== 'mixed') break;
    team.problem = undefined;
  }
}

function attempt(f: () => void): MPIError | undefined {
  try {
    f();
    return undefined;
  } catch (e) {
    if (e instanceof MPIError) return e;
    throw e;
  }
}

function agreement(layer: Layer, request: number): { flag: number; lost: number[]; result: number } {
  const { agreed, error, result } = requests.wait(layer, request);
  // Under FT-MPI's modes a loss ends it.
  if (!agreed) throw new MPIError(error!.errorClass, error!.call, error!.text);
  return { ...agreed, result };
}

/** All members have come. @returns the team's communicator @throws MPIError at all of them, where one has not */
function gather(layer: Layer, comm: CommRecord, call: string): number {
  const n = comm.group.length;
  const flags = Array.from({ length: Math.ceil(n / BITS) }, (_, k) => {
    const bit = Math.floor(comm.rank / BITS) === k ? 1 << (comm.rank % BITS) : 0;
    return JOIN | (JOIN - 1 - bit);
  });
  const answers = flags
    .slice(1)
    .map((flag) => agree(layer, comm.handle, flag, call))
    .map((r) => agreement(layer, r));
  const last = agreement(layer, shrink(layer, comm.handle, call, flags[0]));
  answers.unshift(last);
  if (last.lost.length > 0) fail(ERR.PROC_FAILED, call, AGAIN, comm.handle);
  const missing = Array.from({ length: n }, (_, r) => r).filter(
    (r) => ((answers[Math.floor(r / BITS)]!.flag >> (r % BITS)) & 1) !== 0,
  );
  if (missing.length > 0 || answers.some((a) => (a.flag & JOIN) === 0))
    fail(
      ERR.CHECKPOINT,
      call,
      `not all processes of ${comm.name} call MPI_Ckpt_open or MPI_Ckpt_ctrl` +
        (missing.length > 0 ? `: rank ${missing.join(', ')} does not` : ''),
      comm.handle,
    );
  return last.result;
}

/** What everybody brings, by rank. It travels as JSON. */
function exchange<T>(layer: Layer, team: number, mine: T, call: string): T[] {
  const n = commOf(layer, team, call).group.length;
  const bytes = text.encode(JSON.stringify(mine));
  const lengths = scratch(layer, 4 * n);
  const own = scratch(layer, bytes.length);
  const spaces = [lengths.space, own.space];
  return thenLetGo(
    () => {
      layer.memory.view(own).set(bytes);
      const cell = part(lengths, 4 * commOf(layer, team, call).rank, 4);
      const words = (): DataView => {
        const v = layer.memory.view(lengths);
        return new DataView(v.buffer, v.byteOffset, v.length);
      };
      words().setUint32(cell.offset - lengths.offset, bytes.length, true);
      requests.settled(layer, collectives.allgather(layer, team, undefined, lengths, call));
      const counts = Array.from({ length: n }, (_, i) => words().getUint32(4 * i, true));
      const displs: number[] = [];
      let total = 0;
      for (const c of counts) displs.push((total += c) - c);
      const all = scratch(layer, total);
      spaces.push(all.space);
      requests.settled(layer, collectives.allgatherv(layer, team, own, { buf: all, unit: 1, counts, displs }, call));
      const view = layer.memory.view(all);
      return counts.map((c, i) => JSON.parse(read.decode(view.slice(displs[i]!, displs[i]! + c))) as T);
    },
    () => {
      for (const space of spaces) releaseSpace(layer, space);
    },
  );
}

type Known = Extract<Plan, { round: number }>;

/**
 * The paper's "latest coherent copy": the last round on disk or, where a file of it cannot be read, the one before. A
 * round counts if all have it: both files of a rank are of whole rounds, or of one after the last whole one.
 */
function fromDisk(
  layer: Layer,
  team: number,
  { folder, round: last, slot: newest }: Known,
  rank: number,
  call: string,
): { round: number; slot: number; own: Uint8Array } {
  let damage: MPIError | undefined;
  for (const slot of [newest, newest ^ 1]) {
    let found: { round: number; data: Uint8Array } = { round: 0, data: new Uint8Array(0) };
    const wrong = attempt(() => void (found = disk.read(layer, folder, rank, slot, call)));
    if (wrong && byLoss(wrong)) throw wrong;
    damage ??= wrong;
    const { round, data: own } = found;
    const all = exchange(layer, team, round, call);
    if (round > 0 && round <= last && all.every((r) => r === round)) return { round, slot, own };
  }
  throw damage ?? new MPIError(ERR.CHECKPOINT, call, 'another process cannot read its checkpoints on disk');
}

function begin(
  layer: Layer,
  ckpt: Checkpoints,
  comm: CommRecord,
  settings: Settings,
  node: string,
  call: string,
  numbers: Format,
): void {
  const joining = ckpt.joining!;
  const { present } = ckpt;
  const share = present ? present.team.share(node, ckpt.folder, ckpt.slot) : newcomer(node);
  const checks = (layer.state.failures?.lost.length ?? 0) === 0 && (settings.flags & NO_CHECK) === 0;
  const all = exchange<Brings>(layer, joining.comm, { share, settings, checks }, call);
  const bad = (errorClass: ErrorClass, why: string): never => fail(errorClass, call, why);
  const unlike = all.findIndex((b) => JSON.stringify(b.settings) !== JSON.stringify(all[0]!.settings));
  if (unlike >= 0) bad(ERR.ARG, `the options of ranks 0 and ${unlike} differ`);
  const nodes = all.map((b) => b.share.node);
  const { codes } = layer.device;
  const { m, holders, sums } = protection(nodes, settings, codes, (why) => bad(ERR.ARG, why));
  const plan = planOf(
    all.map((b) => b.share),
    m,
    { holders, sums, codes },
  );
  if (plan.error !== undefined) bad(...REFUSED[plan.error]);
  const { context } = commOf(layer, joining.comm, call);
  let known = plan as Known;
  let has = present?.team.offered(known.round);
  if (known.disk) {
    const { round, slot, own } = fromDisk(layer, joining.comm, known, comm.rank, call);
    known = { ...known, round, stable: round, slot };
    has = { round, own, copies: new Map(), sums: [] };
  }
  joining.team = new Team({
    id: String(context),
    rank: comm.rank,
    nodes,
    m,
    holders,
    sums,
    codes,
    numbers,
    memory: (settings.memory || MEMORY_MB) * 2 ** 20,
    checked: all.every((b) => b.checks) ? CHECKED : 0,
  });
  joining.folder = known.folder || `mpi-ckpt/${context}`;
  joining.slot = known.slot;
  step(layer, joining as Membership, { type: 'begin', plan: known, has });
  takeEarly(layer, joining as Membership, joining.early.splice(0));
  // The loss may have come before the team was there.
  if (lostOf(layer, commOf(layer, joining.comm, call)).length > 0) step(layer, joining as Membership, { type: 'lost' });
}

const REFUSED: Readonly<Record<NonNullable<Plan['error']>, [ErrorClass, string]>> = {
  teams: [ERR.CHECKPOINT, 'the processes have checkpoints of different teams'],
  ranks: [ERR.ARG, 'with new processes, the communicator has as many as before, and the old ones have their ranks'],
  lost: [ERR.CHECKPOINT, 'more nodes were lost than copies or checksums are for, and no checkpoint is on stable disk'],
};

/** @throws MPIError ERR_CHECKPOINT */
function opened(layer: Layer, call: string): Checkpoints & { present: Membership } {
  return openOf(layer) ?? fail(ERR.CHECKPOINT, call, 'no checkpoints are open: MPI_Ckpt_open comes first');
}

/** Waits for what is not decided. @throws MPIError where a process has failed */
function quiet(layer: Layer, ckpt: Checkpoints & { present: Membership }, call: string): Team {
  const { team } = ckpt.present;
  waitUntil(
    layer,
    () => !team.waits,
    () => ({ call }),
  );
  if (team.state === 'broken')
    fail(ERR.PROC_FAILED, call, 'a process has failed: MPI_Ckpt_ctrl takes a communicator without it', ckpt.comm);
  return team;
}

/** [MPI_Ckpt_here] @param own the data of this process; they are kept */
export function here(layer: Layer, own: Uint8Array, call: string): void {
  const ckpt = opened(layer, call);
  const team = quiet(layer, ckpt, call);
  const { problem, crossed } = team;
  team.problem = undefined;
  if (problem === 'crossing')
    fail(
      ERR.CKPT_CROSSING,
      call,
      'messages crossed the last checkpoint, it does not count' +
        (crossed
          ? `: rank ${crossed.from} had sent this process ${Math.abs(crossed.more)} ` +
            `${crossed.more > 0 ? 'more' : 'less'} than it had received`
          : ''),
      ckpt.comm,
    );
  if (problem === 'mixed')
    fail(ERR.CHECKPOINT, call, 'not all processes have called MPI_Ckpt_here: the last one does not count', ckpt.comm);
  if (problem === 'disk') fail(ERR.IO, call, 'the last checkpoint could not be written to the disk', ckpt.comm);
  if (problem === 'numbers')
    fail(
      ERR.CHECKPOINT,
      call,
      'the last checkpoint does not count: a number, or a sum of them, was NaN, an infinity or whole and beyond 2^53',
      ckpt.comm,
    );
  if (problem === 'memory') ckpt.full = true;
  const { algorithm, ratio } = ckpt.settings!;
  const memory = algorithm !== Algorithm.STABLE_DISK && !ckpt.full;
  const round = team.nextRound;
  const onDisk = !memory || round % (ratio || RATIO) === 0;
  const stored =
    !onDisk ||
    attempt(() => disk.write(layer, ckpt.folder, team.options.rank, ckpt.tries(round), round, own, call)) === undefined;
  const { group } = commOf(layer, ckpt.present.comm, call);
  ckpt.agreed = false;
  step(layer, ckpt.present, { type: 'here', own, disk: onDisk, stored, memory, ...ckpt.counts(group) });
}

/** [MPI_Rollback] The first one behind a checkpoint is collective. @returns the data of the newest whole one */
export function rollback(layer: Layer, call: string): Uint8Array {
  const ckpt = opened(layer, call);
  // FT-MPI has made MPI_COMM_WORLD whole again: the others are in this call, too, or in MPI_Ckpt_open.
  if (ckpt.present.team.state === 'broken' && ckpt.comm === COMM_WORLD && layer.state.failures?.epoch !== undefined)
    join(layer, ckpt.comm, ckpt.settings!, ckpt.node, call, ckpt.numbers!);
  const team = quiet(layer, ckpt, call);
  if (!ckpt.agreed) {
    if (team.problem === 'memory') ckpt.full = true;
    team.problem = undefined;
    step(layer, ckpt.present, { type: 'rollback' });
    quiet(layer, ckpt, call);
    if ((team.problem as string | undefined) === 'mixed') {
      team.problem = undefined;
      fail(ERR.CHECKPOINT, call, 'not all processes have called MPI_Rollback', ckpt.comm);
    }
    ckpt.agreed = true;
  }
  const { own } = team.whole;
  return own ?? fail(ERR.CHECKPOINT, call, 'there is no checkpoint: none has become whole', ckpt.comm);
}

/** [MPI_Ckpt_close] */
export function close(layer: Layer, call: string): void {
  const ckpt = opened(layer, call);
  const { present, folder } = ckpt;
  const { team } = present;
  waitUntil(
    layer,
    () => !team.waits,
    () => ({ call }),
  );
  step(layer, present, { type: 'close' });
  if (team.stable > 0 || ckpt.full || ckpt.settings!.algorithm === Algorithm.STABLE_DISK)
    disk.remove(layer, folder, team.options.rank, call);
  Object.assign(ckpt, { open: false, present: undefined, folder: '' });
}

/** The communicator of the open checkpoints, 0: none are open. */
export const commOfOpen = (layer: Layer): number => openOf(layer)?.comm ?? 0;
