/**
 * The composition of the server's cores as production has it (JobService), with a trace of the orders between cores.
 * The planted bugs that concern an order between two cores stand here.
 */
import {
  JobService,
  positionOf,
  replayOf,
  zeroLine,
  type DispatcherInput,
  type ImagesInput,
  type Line,
  type LogAnswers,
  type LogOrder,
  type Progress,
  type ReplayFrom,
} from '@mayfly/protocols';
import { WORLD, taskId, type ErrorBody, type Incarnation, type JobId, type Position, type TaskId } from '@mayfly/wire';
import type { CsHost } from './cs-host.ts';
import type { Simulation } from './simulation.ts';

/** What the composition asks of the run that it is part of. */
export interface ServiceSimulation extends Simulation {
  readonly server: { readonly cs: Pick<CsHost, 'kept'>; later(ms: number, f: () => void): void };
}

/** Planted bugs of message logging change positions. */
const changed = (p: Position, change: (at: ReplayFrom) => ReplayFrom): Position => positionOf(change(replayOf(p)));

/** Planted: the answer of a Channel Memory that was never asked. */
const invented = (tasks: number): Progress => ({
  sends: 0,
  consumed: 0,
  logs: {
    arrivals: 2 ** 40,
    consumed: 0,
    determinants: 0,
    held: [[0, 2 ** 40]],
    sent: [WORLD, ...Array.from({ length: tasks }, (_, t) => taskId(t))].map((to) => [to, 2 ** 40] as const),
  },
});

export class SimService extends JobService {
  constructor(
    private readonly world: ServiceSimulation,
    ...parts: ConstructorParameters<typeof JobService>
  ) {
    super(...parts);
    world.checkers.kit.waves?.serverBegins();
  }

  override image(event: ImagesInput): void {
    const { trace, checkers } = this.world;
    const { waves } = checkers.kit;
    if (event.type === 'wave') {
      trace?.(`wave ${event.wave} begins`);
      waves?.begins(event.wave, this.clusterOf(event));
    } else if (event.type === 'waveOver') {
      trace?.(`wave ${event.wave} is ${event.committed ? 'committed' : 'abandoned'}`);
      waves?.ends(event.wave, this.clusterOf(event));
    }
    super.image(this.world.undone === 'last-stored-images' ? this.lastStored(event) : event);
  }

  private clusterOf({ tasks }: { tasks?: readonly TaskId[] }): number {
    return this.world.setup.clusters?.[tasks?.[0] ?? 0] ?? 0;
  }

  private countRollback(clusters: readonly number[] | undefined): void {
    const { setup } = this.world;
    if (!clusters || !setup.clusters) return;
    const all = new Set(setup.clusters).size;
    this.world.count(clusters.length < all ? 'rollbacks of some clusters' : 'rollbacks of all clusters');
    if (clusters.length > 1 && clusters.length < all) this.world.count('rollbacks of several clusters');
  }

  /** Planted: images of waves that are abandoned stay, and each task goes back to its last one. */
  private lastStored(event: ImagesInput): ImagesInput {
    if (event.type === 'waveOver') return { ...event, committed: true };
    if (event.type !== 'goBack') return event;
    const { server, setup } = this.world;
    const kept = Array.from({ length: setup.spec.size }, (_, t) => server.cs.kept(taskId(t)).at(-1));
    const images = kept.flatMap((k, t) => (k ? [[taskId(t), k.image] as const] : []));
    return { ...event, kept: Array.from({ length: 10_000 }, (_, wave) => wave), images };
  }

  override tick(): void {
    super.tick();
    const { kit } = this.world.checkers;
    for (const log of this.logs(this.world.setup.job))
      if (log.core) kit.waves?.holdsBack(log.index, log.core.memory().heldBack);
  }

  override dispatch(event: DispatcherInput): void {
    const { trace, checkers } = this.world;
    const { waves } = checkers.kit;
    if (event.type === 'rollBack') {
      this.countRollback(event.clusters);
      const who = event.clusters ? `clusters ${event.clusters.join(', ')}` : 'all ranks';
      trace?.(`${who} go back, in epoch ${event.epoch}`);
      waves?.rollsBack(event.epoch, event.clusters);
    } else if (event.type === 'goOn') {
      trace?.(event.cluster === undefined ? 'everybody has gone back' : `cluster ${event.cluster} has gone back`);
      waves?.goesOn(event.cluster);
    }
    if (event.type === 'imageChosen')
      this.world.trace?.(`cs: task ${event.task}.${event.incarnation} restarts from ${event.image ?? 'its beginning'}`);
    super.dispatch(event);
  }

  protected override fenceImages(job: JobId, task: TaskId, incarnation: Incarnation): void {
    const { world } = this;
    world.trace?.(`dispatcher → cs  fence task ${task} below incarnation ${incarnation}`);
    if (world.undone !== 'no-fence-at-dispatcher') return super.fenceImages(job, task, incarnation);
    world.server.later(400, () => super.fenceImages(job, task, incarnation));
    const newest = world.server.cs.kept(task).at(-1);
    this.dispatch({
      type: 'imageChosen',
      job,
      task,
      incarnation,
      ...(newest ? { image: newest.image, position: newest.position } : {}),
    });
  }

  protected override fenceLog(job: JobId, cm: number, task: TaskId, incarnation: Incarnation): void {
    const { world } = this;
    if (world.undone === 'no-fence-at-dispatcher')
      return world.server.later(0, () =>
        this.answersOf(job).fenced(cm, task, incarnation, invented(world.setup.spec.size)),
      );
    world.trace?.(`dispatcher → cm${cm}  fence task ${task} below incarnation ${incarnation}`);
    super.fenceLog(job, cm, task, incarnation);
  }

  protected override order(job: JobId, cm: number, order: LogOrder): void {
    super.order(job, cm, this.changed(cm, order));
  }

  private changed(cm: number, order: LogOrder): LogOrder {
    const { world } = this;
    const { undone } = world;
    if (order.type === 'cover') return { ...order, position: this.asked(order.position) };
    if (order.type !== 'trim') return order;
    world.count('trim');
    let to = order.position;
    if (undone === 'trimmed-to-newest') to = world.server.cs.kept(order.task).at(-1)?.position ?? to;
    if (undone === 'held-bodies-trimmed') to = changed(to, (at) => ({ ...at, held: [] }));
    if (undone === 'prologue-trimmed') to = changed(to, (at) => ({ ...at, prologue: zeroLine() }));
    if (world.trace) {
      const { image, held } = replayOf(to);
      world.trace(
        `cs → cm${cm}  trim task ${order.task} to arrival ${image.arrivals}, determinant ` +
          `${image.determinants}${held.length > 0 ? `, held ${held.join(' ')}` : ''}`,
      );
    }
    return { ...order, position: to };
  }

  private asked(position: Position): Position {
    const line = (change: (line: Line) => Line): Position =>
      changed(position, (at) => ({ ...at, image: change(at.image) }));
    switch (this.world.undone) {
      case 'image-without-sends':
        return line((l) => ({ ...l, sends: l.sends.filter(([dst]) => dst === WORLD) }));
      case 'image-without-outputs':
        return line((l) => ({ ...l, sends: l.sends.filter(([dst]) => dst !== WORLD) }));
      case 'image-without-arrivals':
        return changed(position, (at) => ({
          ...at,
          prologue: { ...at.prologue, arrivals: 0 },
          image: { ...at.image, arrivals: 0 },
        }));
      default:
        return position;
    }
  }

  override answersOf(job: JobId): LogAnswers {
    const { world } = this;
    const answers = super.answersOf(job);
    return {
      ...answers,
      fenced: (cm, task, incarnation, progress) => {
        const { logs } = progress;
        const told = world.undone === 'evidence-ignored' ? { ...logs, consumed: 0, determinants: 0 } : logs;
        answers.fenced(cm, task, incarnation, { ...progress, logs: told });
      },
      covered: (cm, image, determinants) => {
        world.trace?.(`cm${cm} covers ${image}`);
        answers.covered(cm, image, world.undone === 'image-without-determinants' ? [[0, 2 ** 40]] : determinants);
      },
      stage: (cm, answer) => {
        if ('task' in answer && answer.type !== 'taskEnded')
          world.trace?.(`cm${cm}: task ${answer.task} ${answer.type} wave ${answer.wave}`);
        answers.stage(cm, answer);
      },
      wentBack: (cm, epoch) => {
        world.trace?.(`cm${cm} has gone back, in epoch ${epoch}`);
        world.checkers.kit.waves?.wentBack(cm, epoch);
        answers.wentBack(cm, epoch);
      },
      refused: (cm, task, incarnation, error: ErrorBody) => {
        world.checkers.kit.refused(task, incarnation, error);
        world.trace?.(`the Channel Memories have ended task ${task}.${incarnation}: ${error.code}`);
        answers.refused(cm, task, incarnation, error);
      },
    };
  }
}
