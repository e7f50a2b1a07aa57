/**
 * K25, a team under a message log is one unit:
 *
 *   a task's team stays until a commit of the dispatcher dissolves it (T1, T9); all members that are not done are
 *   assigned in one step to one node, with images of one wave or none with any (T1, T6, T8); those images are a
 *   consistent cut, in which what one had sent and another had not consumed lies in the channel that the image has, or
 *   in the log since before the team was made (T6, T9); so are those that the commit names, or it names none. A member
 *   of a team that was dissolved begins with its own of them, or with a later image that it took alone or with the
 *   smaller team that the commit names (T9).
 *
 * Owns: what each image of a member holds by the rank's own account, and the last assignment of each team.
 */
import { groupIn, teamsBefore, type Dissolved } from '@mayfly/protocols';
import { Violation } from '../violation.ts';

/** What a member's image is when it is taken. */
export interface TeamImage {
  readonly wave: number;
  /** Messages consumed of each teammate, sent to each, and lying in the channel from each. */
  readonly received: ReadonlyMap<number, number>;
  readonly sent: ReadonlyMap<number, number>;
  readonly channels: ReadonlyMap<number, number>;
}

export interface Assigned {
  readonly task: number;
  readonly incarnation: number;
  readonly image: string | undefined;
  readonly team: readonly number[] | undefined;
  readonly node: string;
  readonly at: number;
}

export class TeamUnits {
  private readonly images = new Map<string, TeamImage>();
  private readonly assignments = new Map<number, Assigned>();
  private readonly teams = new Map<number, string>();
  /** Tasks whose teams were dissolved, where they began then, and waves of their smaller teams that count. */
  private readonly parted = new Map<number, { image: string | undefined; wave: number }>();
  private readonly seen = new Set<string>();
  /** The image with which a member of a team began that was made of others: no cut, as logs have what lies between. */
  private readonly first = new Map<number, string | undefined>();

  constructor(
    private readonly isDone: (task: number) => boolean,
    /** A log has message `channel` of `src` to `dst`. */
    private readonly isLogged: (src: number, dst: number, channel: number) => boolean,
  ) {}

  imageTaken(image: string, what: TeamImage): void {
    this.images.set(image, what);
  }

  imageOf(image: string | undefined): TeamImage | undefined {
    return image === undefined ? undefined : this.images.get(image);
  }

  assigned(a: Assigned): void {
    this.fromDissolved(a);
    const team = (a.team ?? [a.task]).join();
    const before = this.teams.get(a.task) ?? team;
    if (before !== team)
      throw new Violation(`K25: task ${a.task} was in the team of tasks ${before}, and is in that of ${team}`);
    this.teams.set(a.task, team);
    for (const t of a.team ?? []) {
      const mate = this.assignments.get(t);
      if (mate?.at === a.at && mate.node !== a.node)
        throw new Violation(
          `K25: tasks ${mate.task}.${mate.incarnation} and ${a.task}.${a.incarnation} of a team are assigned to ` +
            `${mate.node} and ${a.node}`,
        );
    }
    this.assignments.set(a.task, a);
  }

  /** A commit names this team, and where its members begin. It may have been named before. */
  dissolved(d: Dissolved): void {
    const { team, from, merged } = d;
    const key = JSON.stringify([team, from]);
    if (this.seen.has(key)) return;
    this.seen.add(key);
    if (!merged) this.consistent(team.map((task) => ({ task, image: from.find((f) => f.task === task)?.image })));
    for (const { task, image } of from) {
      const before = (teamsBefore(d).find((t) => t.includes(task)) ?? [task]).join();
      // Its team may end before any of it was assigned.
      if ((this.teams.get(task) ?? before) !== before)
        throw new Violation(
          `K25: the team of tasks ${before} ends, and task ${task} is in that of ${String(this.teams.get(task))}`,
        );
      const group = groupIn(d, task);
      if (merged) this.first.set(task, image);
      // In a smaller team it has the counts that it had.
      else if (!group && this.first.get(task) !== image) this.first.delete(task);
      this.teams.set(task, (group ?? [task]).join());
      this.parted.set(task, { image, wave: d.wave ?? (group ? (this.imageOf(image)?.wave ?? 0) : Infinity) });
    }
  }

  private fromDissolved({ task, image }: Assigned): void {
    const first = this.parted.get(task);
    if (!first) return;
    const wave = this.imageOf(image)?.wave ?? 0;
    const isVoid = image !== first.image && wave > 0 && wave <= first.wave;
    if (first.image !== undefined && image === undefined)
      throw new Violation(`K25: task ${task} begins with nothing, and its team ended at ${first.image}`);
    if (isVoid) throw new Violation(`K25: task ${task} begins with ${image}, which is void`);
  }

  /** The tasks that are lost with this one, itself included. */
  teamOf(task: number): readonly number[] {
    return this.teams.get(task)?.split(',').map(Number) ?? [task];
  }

  /** A member begins: its team has been assigned whole. */
  begins(task: number, incarnation: number): void {
    const mine = this.assignments.get(task);
    // one that was replaced meanwhile is checked no more
    if (!mine?.team || mine.incarnation !== incarnation) return;
    const all = mine.team.flatMap((t) => (this.isDone(t) ? [] : [this.assignments.get(t)]));
    for (const a of all) {
      if (a?.at === mine.at && a.node === mine.node) continue;
      throw new Violation(
        `K25: task ${task}.${incarnation} begins on ${mine.node}, and its teammate ` +
          `${a ? `${a.task}.${a.incarnation} was assigned to ${a.node} at another time` : 'was not assigned'}`,
      );
    }
    this.consistent(all.flatMap((a) => a ?? []));
  }

  private consistent(all: readonly Pick<Assigned, 'task' | 'image'>[]): void {
    const begins = all.filter((a) => this.first.has(a.task) && this.first.get(a.task) === a.image);
    if (begins.length > 0 && begins.length === all.length) return;
    const images = new Map(all.map((a) => [a.task, this.imageOf(a.image)]));
    const waves = new Set([...images.values()].map((i) => i?.wave ?? 0));
    if (waves.size > 1)
      throw new Violation(`K25: tasks ${[...images.keys()].join()} begin with images of waves ${[...waves].join()}`);
    for (const [dst, to] of images)
      for (const [src, from] of images) {
        // Of a team that was made of others, nobody has counted what came before.
        if (this.first.has(dst) && to?.received.has(src) !== true) continue;
        const [sent, got] = [from?.sent.get(dst) ?? 0, to?.received.get(src) ?? 0];
        let between = to?.channels.get(src) ?? 0;
        // They were sent before the team was made: the log has them, and the rank has not come to them yet.
        for (let n = got + 1; n <= sent; n++) if (this.isLogged(src, dst, n)) between++;
        if (sent !== got + between)
          throw new Violation(
            `K25: task ${src} had sent ${sent} messages to ${dst}, which had consumed ${got}, and ${between} lie between`,
          );
      }
  }
}
