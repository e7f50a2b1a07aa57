/**
 * What is durable of a regrouping (T9), as everybody hears of it who serves its job: a team was dissolved, or several
 * became one.
 */
import type { ImageId, TaskId } from '@mayfly/wire';

export type Sends = readonly (readonly [dst: TaskId, count: number])[];

export interface Dissolved {
  /** All tasks concerned, ascending: the team that was dissolved, or the one that was made. */
  readonly team: readonly TaskId[];
  /** Present: it was made, of these teams and of tasks that were alone. Absent: it was dissolved. */
  readonly merged?: readonly (readonly TaskId[])[];
  /** The teams that they form from then on; all others are alone. Absent: all are. */
  readonly groups?: readonly (readonly TaskId[])[];
  /** Of a merge: the wave of its first set, above those of all earlier ones. */
  readonly wave?: number;
  /** Where each member began. */
  readonly from: readonly {
    readonly task: TaskId;
    /** Absent: the start of its program. */
    readonly image?: ImageId;
    /**
     * Messages that it had sent to each member that is not its teammate any more, itself included if it is alone: no
     * log has them, and channels go on behind them.
     */
    readonly sends: Sends;
    /** Arrivals that its log had. Absent, of commits before this was named: what was carried over comes first. */
    readonly arrivals?: number;
  }[];
}

/** The teammates of a member from then on; undefined: it is alone. */
export const groupIn = ({ groups = [] }: Dissolved, task: TaskId): readonly TaskId[] | undefined =>
  groups.find((g) => g.includes(task));

/** The teams that end. */
export const teamsBefore = ({ team, merged }: Dissolved): readonly (readonly TaskId[])[] => merged ?? [team];

/**
 * The regroupings of a job after one more. What nobody needs goes, so the list stays short however often the same ranks
 * are regrouped. One stays that is the first of a task: it says in which team the task began (T10). One that is not
 * stays until each of its members began with another image since: its own is void then, and the counts that it raised
 * are durable, as all logs have fenced the member behind it. Later ones have to name its teammates: a receiver may give
 * back what they sent together.
 */
export function andThen(all: readonly Dissolved[], next: Dissolved): Dissolved[] {
  const later = [next];
  for (const [i, d] of [...all.entries()].reverse())
    if (isFirst(all.slice(0, i), d) || !isOver(d, later)) later.unshift(d);
  return later;
}

const isFirst = (before: readonly Dissolved[], { team }: Dissolved): boolean =>
  team.some((t) => !before.some((d) => d.team.includes(t)));

const isOver = ({ team, from }: Dissolved, later: readonly Dissolved[]): boolean =>
  from.every(({ task, image }) => {
    const mine = later.filter((d) => d.team.includes(task));
    return (
      mine.some((d) => d.from.some((f) => f.task === task && f.image !== image)) &&
      team.every((mate) => mine.some((d) => d.team.includes(mate)))
    );
  });

/** What the regroupings that began with this image say of it. */
export interface Regrouped {
  /** Arrivals before what lay in its channels: no later than the first of them. */
  readonly place?: number;
  /** Arrivals before everything of teammates: as of the last. */
  readonly gate?: number;
  /** Of its set, if the image was of no team. */
  readonly wave?: number;
}

export function regroupedAt(all: readonly Dissolved[], task: TaskId, image: ImageId): Regrouped {
  let at: Regrouped = {};
  for (const { team, from, wave } of all) {
    const arrivals = team.includes(task) ? from.find((f) => f.task === task && f.image === image)?.arrivals : undefined;
    if (arrivals === undefined) continue;
    at = {
      place: at.place ?? arrivals,
      gate: arrivals,
      ...((wave ?? at.wave) === undefined ? {} : { wave: (wave ?? at.wave)! }),
    };
  }
  return at;
}
