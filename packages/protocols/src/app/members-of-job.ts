/**
 * The membership service of one job, with those that it speaks to: the dispatcher, which gives tasks up, and the
 * Channel Memories, which fence them and carry the notices.
 */
import {
  DEFAULT_SLOT_MS,
  MEMBERS,
  WorldMode,
  encodeMember,
  homeOf,
  type Incarnation,
  type SpawnGroup,
  type TaskId,
} from '@mayfly/wire';
import { capacityOf } from '../dispatcher/events.ts';
import { partOfTask, partsOf } from '../dispatcher/parts.ts';
import { groupOf } from '../dispatcher/state.ts';
import type {
  MembershipEffect,
  MembershipEvent,
  MembershipOptions,
  MembershipService,
} from '../contract/membership.ts';
import { readRequest } from '../contract/member-request.ts';
import { CoreInbox } from '../service/inbox.ts';
import type { PartHost, ServicePart, ServicePolicy } from '../service/part.ts';
import { Membership } from './membership.ts';

/** @param service a planted bug is another one */
export const memberService = (
  service: (options: MembershipOptions) => MembershipService = (options) => new Membership(options),
): ServicePolicy => ({
  kinds: [],
  begin({ channelMemories, ft }, host) {
    const modes = ft?.communicators === 'abort' ? undefined : ft;
    const slotMs = ft?.slotMs ?? DEFAULT_SLOT_MS;
    return new MembersOfJob(service({ tasks: host.logs()[0]?.size ?? 0, channelMemories, ft: modes, slotMs }), host);
  },
});

class MembersOfJob implements ServicePart {
  /** All effects of an event before the next one: so the notices of one loss go out together. */
  readonly #inbox: CoreInbox<MembershipEvent, MembershipEffect>;

  constructor(
    private readonly core: MembershipService,
    private readonly host: PartHost,
  ) {
    this.#inbox = new CoreInbox(core.step.bind(core), (e) => this.#perform(e), host.defect.bind(host));
  }

  tick(): void {
    this.#inbox.put({ type: 'tick', now: this.host.now(), idle: this.host.idle() });
  }

  grow(tasks: number, { replaces, root }: SpawnGroup): void {
    this.#inbox.put({ type: 'grow', tasks, ...(replaces && { replaces: root }) });
  }

  dead(task: TaskId, above: Incarnation): void {
    this.#inbox.put({ type: 'dead', task, above });
  }

  done(task: TaskId): void {
    this.#inbox.put({ type: 'ended', task });
  }

  fenced(task: TaskId, incarnation: Incarnation, cm: number): void {
    this.#inbox.put({ type: 'fenced', task, incarnation, cm });
  }

  /** WorldMode.MEMBER of a task. The Channel Memory has checked that it can be read. */
  asked(task: TaskId, body: Uint8Array): void {
    const request = readRequest(body);
    if (request) this.#inbox.put({ type: 'request', task, request });
  }

  #perform(e: MembershipEffect): void {
    const logs = this.host.logs();
    switch (e.type) {
      case 'fence':
        for (const log of logs) log.fence(e.task, e.incarnation);
        return;
      case 'tell':
        return logs[homeOf(e.task, logs.length)]?.step({
          type: 'world',
          task: e.task,
          src: MEMBERS,
          channel: e.number,
          mode: WorldMode.NOTICE,
          body: encodeMember(e.notice),
        });
      case 'replace':
        return this.#replace(e.task);
      case 'failed':
        return this.host.failed(e.error);
      case 'lost':
        for (const log of logs) log.done(e.task);
        return this.host.gone(e.task);
    }
  }

  /** Under FT-MPI's mode REBUILD: one more task, with the program and the arguments of the lost one. */
  #replace(task: TaskId): void {
    const record = this.host.record();
    const first = this.host.logs()[0]?.size;
    if (!record || first === undefined) return;
    const { spec } = record;
    if (first >= capacityOf(spec))
      return this.host.failed({
        code: 'LOST_NODES',
        message: `Rank ${task} was lost, after ${capacityOf(spec) - spec.size} ranks that were replaced: too many.`,
      });
    const args = groupOf(record, task)?.parts[0]!.args ?? partsOf(spec)[partOfTask(record, task)]!.args;
    this.host.add({ first: first as TaskId, root: task, parts: [{ args, count: 1 }], replaces: true });
  }
}
