/**
 * Images of teams whose protocol has a log, between the ranks, the core and the uploads: what a rank writes of a wave
 * becomes an event of the core, what the core orders reaches the ranks. When one is due: logged-team.ts.
 */
import type { CommEffect, CommEvent } from '@mayfly/protocols';
import { MANY_SKIPPED, type TaskId } from '@mayfly/wire';
import { CHANNELS } from '../local-frames.ts';
import { Ask } from '../ring/index.ts';
import { readStatus } from '../status.ts';
import type { LoggedTeam } from './logged-team.ts';
import type { Rank } from './rank.ts';
import type { CommSeams } from './seams.ts';

export class TeamImages {
  constructor(
    private readonly ranks: ReadonlyMap<TaskId, Rank>,
    private readonly seams: Pick<CommSeams, 'now'>,
    private readonly step: (event: CommEvent) => void,
    private readonly note: (text: string) => void,
  ) {}

  /** T5: reports that no frame takes along. */
  readReports({ log, assignment }: Rank): void {
    if (log) this.step({ type: 'reports', task: assignment.task, reports: log.reports() });
  }

  /** Asks the core for images of the teams for which they are due. */
  order(): void {
    const teams = new Map<LoggedTeam, Rank>();
    for (const rank of this.ranks.values()) if (rank.log) teams.set(rank.log, rank);
    for (const [log, { assignment }] of teams) {
      const work = (): number | undefined => this.work(log);
      if (log.due(this.seams.now(), this.interval(log, assignment.checkpointMs), work)) this.ask(log, assignment.task);
    }
  }

  /** The members' images go one after the other: the last one has taken as long as all. */
  private interval({ members }: LoggedTeam, wanted: number): number {
    return Math.max(wanted, ...members.map((m) => this.ranks.get(m)?.imageCost?.spaced(wanted) ?? 0));
  }

  /** Messages that the members of a team have sent and consumed; undefined while one of them does not wait. */
  private work(log: LoggedTeam): number | undefined {
    const ranks = log.members.flatMap((m) => this.ranks.get(m) ?? []);
    const all = ranks.map((rank) => readStatus(rank.link.side.words, this.seams.now()).activity);
    if (!all.every(({ state }) => state === 'waiting' || state === 'ended')) return undefined;
    return all.reduce((n, { arrivals, sends }) => n + arrivals + sends, log.messages);
  }

  /** A script wants an image soon, or at this call of checkpoint.here, at which it waits. */
  wish({ log, assignment: { task } }: Rank, call: number | undefined): void {
    if (!log) return;
    if (call === undefined) return log.wish();
    const { wave } = log;
    if (log.offered) this.ask(log, task);
    if (log.wave === wave) log.refuse(task, call);
  }

  private ask(log: LoggedTeam, task: TaskId): void {
    const replaying = log.members.some((m) => {
      const rank = this.ranks.get(m);
      return rank !== undefined && !(rank.running && readStatus(rank.link.side.words).recovered);
    });
    this.step({ type: 'wave', task, replaying });
  }

  /** A last image of the rank, or of its team, is not wanted any more: it goes on, unless it has it. */
  stays(rank: Rank): void {
    if (!rank.log) return rank.link.side.unask(Ask.CHECKPOINT | Ask.LEAVE);
    const wave = rank.log.stays();
    if (wave > 0) this.declined(rank, wave);
  }

  /** One of the `effects` with which a wave begins. The first of its team stands for all. */
  begins(task: TaskId, wave: number, effects: readonly CommEffect[]): void {
    const log = this.ranks.get(task)?.log;
    if (!log) return;
    const of = effects.flatMap((e) => (e.type === 'checkpoint' && log.members.includes(e.task) ? [e.task] : []));
    if (of[0] === task) log.begins(wave, new Set(of), this.seams.now());
  }

  /** The state of all channels to this rank, which belongs to the image that it has handed over. */
  closes(rank: Rank, wave: number, section: Uint8Array): void {
    if (rank.handed?.head.wave !== wave) return;
    rank.handed.sections.set(CHANNELS, section);
    this.step({ type: 'closed', task: rank.assignment.task, wave });
  }

  declined(rank: Rank, wave: number): void {
    const { task, checkpointMs } = rank.assignment;
    const skipped = rank.log?.dropped(wave, this.seams.now(), checkpointMs);
    if (skipped === MANY_SKIPPED)
      this.note(
        `the ranks ${rank.log!.members.join(', ')} took no checkpoint together ${MANY_SKIPPED} times in a row: each calls ` +
          'checkpoint.here before it has received something that another one had sent at the same call (docs/teams.md)',
      );
    this.step({ type: 'declined', task, wave });
  }

  /** Its thread ends: channel state that it has not handed over cannot be had any more. */
  ends(rank: Rank): void {
    const wave = rank.handed?.head.wave;
    if (wave !== undefined && !rank.handed!.sections.has(CHANNELS)) this.declined(rank, wave);
  }

  /** Nobody waits for the image that the rank has handed over. */
  unused(rank: Rank): void {
    rank.link.imageDone();
    // It may wait for its buffer with the image of the next wave.
    if (rank.log) rank.link.side.ask(0);
  }

  /** The image that the rank handed over last is complete at the Checkpoint Server, or refused. */
  over(rank: Rank): void {
    if (!rank.log) return;
    rank.link.side.ask(0);
    this.step({ type: 'imageOver', task: rank.assignment.task });
  }
}
