/**
 * What a planted bug changes between a rank, its comm core and the Channel Memories (see planted.ts). Without one all
 * of it is the identity.
 */
import { Kind, WORLD, WorldMode, homeOf, readFrames, taskId, type TaskId } from '@mayfly/wire';
import type { Link } from './link.ts';
import { emptyAnswer, tooEarly, withEvidenceOnly, withOneNonce, withoutDeterminants } from './mutate.ts';
import type { Rule } from './planted.ts';
import type { Simulation } from './simulation.ts';

/** From the rank to its comm worker. */
export const changedRing = (undone: Rule | undefined, bytes: Uint8Array): Uint8Array =>
  undone === 'determinants-not-on-frames' ? withoutDeterminants(bytes) : bytes;

/** From a Channel Memory to the comm worker. */
export function changedDown(undone: Rule | undefined, bytes: Uint8Array): Uint8Array {
  if (undone === 'retention-until-ack') return tooEarly(bytes, 'messages');
  return undone === 'arrivals-not-retained' ? tooEarly(bytes, 'arrivals') : bytes;
}

/** From the comm worker to a Channel Memory. */
function changedUp(world: Simulation, cm: number, bytes: Uint8Array): Uint8Array {
  if (world.undone === 'clone-accepted') return withOneNonce(bytes);
  if (world.undone !== 'determinants-to-home-only') return bytes;
  const [f] = readFrames(bytes);
  return f && homeOf(taskId(f.header.src), world.setup.channelMemories) !== cm ? withEvidenceOnly(bytes) : bytes;
}

type Up = Pick<Link<Uint8Array, Uint8Array>, 'up'>;

/** Planted: frames that wait, by connection; cuts that have left, by run. */
const waiting = new WeakMap<Up, Uint8Array[]>();
const cuts = new WeakMap<Simulation, Set<string>>();
/** Planted: how long CUT and what follows it are late, ms. */
const LATE_MS = 60;

/** A frame leaves over this connection, if there is one. */
export function sendUp(world: Simulation, link: Up | undefined, cm: number, bytes: Uint8Array): void {
  if (!link) return;
  world.checkers.kit.waves?.leaves(bytes);
  const kind = readFrames(bytes)[0]?.header.kind;
  if (world.undone === 'consumed-before-cut') {
    const late = waiting.get(link);
    if (late && kind !== Kind.CREDIT) return void late.push(bytes);
    if (kind === Kind.CUT) return later(world, link, [bytes], LATE_MS);
  }
  if (world.undone === 'cut-after-data' && kind === Kind.CUT) {
    const { src, incarnation, word } = readFrames(bytes)[0]!.header;
    const known = cuts.get(world) ?? new Set();
    cuts.set(world, known);
    const cut = `${src}.${incarnation} ${word} ${cm}`;
    if (known.has(cut)) return world.agenda.after(0, () => link.up(bytes));
    known.add(cut);
  }
  link.up(changedUp(world, cm, bytes));
}

function later(world: Simulation, link: Up, frames: Uint8Array[], ms: number): void {
  waiting.set(link, frames);
  world.agenda.after(ms, () => {
    waiting.delete(link);
    for (const bytes of frames) link.up(bytes);
  });
}

/** The Channel Memory that an EXIT goes to at once, past the comm core that would hold it back. */
export function bypassesHold(world: Simulation, task: TaskId, bytes: Uint8Array): number | undefined {
  if (world.undone !== 'exit-not-held-back') return undefined;
  const h = readFrames(bytes)[0]!.header;
  return h.kind === Kind.DATA && h.dst === WORLD && h.mode === WorldMode.EXIT
    ? homeOf(task, world.setup.channelMemories)
    : undefined;
}

/** After the first answer to a restart: answers in the name of those that have not spoken. */
export function inventedAnswers(
  world: Simulation & { readonly server: { readonly cms: readonly { readonly index: number }[] } },
  bytes: Uint8Array,
  cm: number,
  waits: (task: TaskId) => boolean,
): { cm: number; bytes: Uint8Array }[] {
  if (world.undone !== 'begins-before-all-answered') return [];
  return readFrames(bytes)
    .filter((f) => f.header.kind === Kind.ATTACHED && waits(f.header.dst))
    .flatMap((f) =>
      world.server.cms
        .filter((c) => c.index !== cm)
        .map((c) => ({ cm: c.index, bytes: emptyAnswer(f.header.dst, f.header.incarnation) })),
    );
}
