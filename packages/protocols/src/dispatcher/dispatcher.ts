/**
 * Dispatcher: gives ranks to nodes, detects failures, starts new incarnations, fences old ones (MPICH-V §3.1).
 *
 * Owns: the queue of jobs, the slots of nodes, the phase and the incarnation of every task, the record of faults. Does
 * not own: logs (Channel Memory), images (Checkpoint Server), secrets and capabilities (host). Messages: events.ts.
 * Restart: restart.ts.
 *
 * Invariants
 *  D1 At most one incarnation of a task acts: one is assigned only after the Checkpoint Server and every Channel Memory
 *     have answered that they refuse all lower ones.
 *  D2 Incarnations of a task only rise, and one is durable in the registry before any fence or assignment names it.
 *  D3 No assignment makes a node run more ranks than it has slots, but for a team that finds no node with as many free
 *     ones as it has members (D23). A node that is suspect or gone gets no ranks.
 *  D4 A job starts only when all its ranks have a slot; lost ranks come before the queue. In the queue of each room
 *     owners take turns (D27), and jobs of one owner are first come, first served: a waiting job blocks the jobs behind
 *     it from every slot that it could use itself.
 *  D5 A report, heartbeat or hold of anything but the acting incarnation on its own node changes nothing, and its node
 *  is ordered to stop it.
 *  D6 A task is done, and a job ended, only once this is durable; nothing of it is assigned afterwards.
 *  D7 Every incarnation that was assigned and lost is in the list of faults once. (One that moves is not lost: D29.)
 *  D8 When a job ends, all its ranks are revoked and all its slots are free.
 *  D9, D10 What a pause is: pause.ts.
 *  D11 No report of a node ends a job: it ends that incarnation at most. The server asks the logs themselves whether
 *  they have what a restart needs.
 *  D12 When a reported deadlock ends a job: doubted-deadlock.ts.
 *  D20 A rank is assigned only to a node that runs programs of its kind, as its Hello says. If a node declines a rank,
 *     the rank goes to another node, and the refusal does not count as a crash of the program.
 *  D31 A connection has one node, whatever it says in how many Hellos, and names two images of a task at most.
 *  D32 A node without ranks that was not heard for `forgetMs` is forgotten, and its connection closed.
 *  D33 A heartbeat is answered with a few revocations at most, whatever ranks it names: its node names the rest again.
 *  D34 Where there are many nodes, slots are given away once in a while: each time looks at all nodes (schedule.ts).
 *  R1–R4 Which nodes are trusted: reputation.ts. B1–B4 Who is to blame for a failure: failures.ts. S1–S4 Ranks without
 *  progress: stragglers.ts.
 *  D13, D14 What storage that cannot be written is: storage-outage.ts. D15–D17 Jobs whose tasks go back together:
 *  together.ts. D21 Teams: teams.ts. D22–D25 Teams that restart: unit.ts. D26 Quotas: quotas.ts. D27 Whose
 *  job is next: fair-share.ts. D28 Teams that are dissolved: dissolve.ts. D29 Teams
 *  that move: move.ts. D30 Ranks that run and are regrouped: last-images.ts.
 *
 * Durable before: `raise` before fenceCs, fenceCm, assign; `exit` before taskDone; `end` before jobEnded and the
 * revocations; `pause` before the revocations.
 */
import type { Incarnation, JobId, TaskId } from '@mayfly/wire';
import { deadlocked } from './doubted-deadlock.ts';
import { dissolved } from './dissolve.ts';
import { endJob } from './end.ts';
import { passTime } from './job-progress.ts';
import { checkLimits, endPersisted, exited, exitPersisted, forget, spawn, submit } from './jobs.ts';
import { endAmongStrangers, gotFurther } from './failures.ts';
import { CREDIT, earn, release } from './reputation.ts';
import { called } from './comparison.ts';
import { progress, watchStragglers } from './stragglers.ts';
import { addImage, disconnected, foresees, goodbye, heard, heartbeat, hello, refused, report, watch } from './nodes.ts';
import { recover, stillHere } from './recover.ts';
import { endWait, leaveWithImage, leaveWithWave, pauseJob, pausePersisted, resumeJob } from './pause.ts';
import { watchRegroupings } from './last-images.ts';
import { moveWithImage, watchCrowded } from './move.ts';
import { askForImage, fencedCm, imageChosen, lose, raised, tellToDrop } from './restart.ts';
import { maySchedule, schedule } from './schedule.ts';
import { Core, over, paused, recoveryOf, type Task } from './state.ts';
import { endedForNow, goOn, rollBack, rolledBack } from './together.ts';
import type { RecoveryTable } from './policy.ts';
import { storage } from './storage-outage.ts';
import { unitOf } from './unit.ts';
import { protocols } from '../table.ts';
import type { DispatcherEffect } from './effects.ts';
import { defaultSettings, type DispatcherEvent, type DispatcherSettings } from './events.ts';

export class Dispatcher {
  /** Read by the selectors of views.ts; changed by `step` only. */
  readonly core: Core;

  /** `table`: what each V-protocol decides; another one only in tests. */
  constructor(settings: Partial<DispatcherSettings> = {}, table: RecoveryTable = protocols) {
    this.core = new Core({ ...defaultSettings, ...settings }, table);
  }

  /** Whether an incarnation of this task is at a node now, so that a kill takes one down. */
  acts(job: JobId, task: TaskId): boolean {
    const t = this.core.find(job, task);
    return t !== undefined && !over(t.job) && (t.phase === 'assigned' || t.phase === 'running');
  }

  step(e: DispatcherEvent): DispatcherEffect[] {
    const { core } = this;
    core.now = e.now;
    core.clock.advance(e.now);
    core.effects = [];
    core.queue = undefined;
    this.#handle(e);
    if (core.reschedule && maySchedule(core)) {
      core.reschedule = false;
      schedule(core);
    }
    for (const job of core.changedJobs) core.emit({ type: 'jobChanged', job });
    core.changedJobs.clear();
    if (core.nodesChanged) core.emit({ type: 'nodesChanged' });
    core.nodesChanged = false;
    return core.effects;
  }

  #handle(e: DispatcherEvent): void {
    const { core } = this;
    switch (e.type) {
      case 'recover':
        return recover(core, e);
      case 'submit':
        return submit(core, e.job);
      case 'quotas':
        core.quotas = e.quotas;
        core.reschedule = true;
        for (const job of core.jobs.values()) if (job.record.state === 'waiting') core.changed(job);
        return;
      case 'spawn': {
        const job = core.jobs.get(e.job);
        if (job) spawn(core, job, e.group);
        return;
      }
      case 'hello':
        return hello(core, e);
      case 'heartbeat':
      case 'report':
      case 'goodbye':
      case 'slots':
      case 'foresees':
      case 'disconnected':
        return this.#fromNode(e);
      case 'persisted':
        return this.#persisted(e.token);
      case 'imageChosen': {
        const t = this.#acting(e.job, e.task, e.incarnation, 'choosing');
        if (t) imageChosen(core, t, e.image, e.position, e.ended);
        return;
      }
      case 'imageLost': {
        const t = this.#acting(e.job, e.task, e.incarnation, 'choosing');
        if (t) this.#fail(e.job, e.error.code, e.error.message);
        return;
      }
      case 'fencedCm': {
        const t = this.#acting(e.job, e.task, e.incarnation, 'fencing');
        if (t) fencedCm(core, t, e.cm, e);
        return;
      }
      case 'refused': {
        const t = core.find(e.job, e.task);
        if (t) refused(core, t, e.incarnation, e.error);
        return;
      }
      case 'exit': {
        const t = core.find(e.job, e.task);
        if (t) exited(core, t, e.incarnation, e.report);
        return;
      }
      case 'image': {
        const t = core.find(e.job, e.task);
        if (!t || e.serial < (t.newest?.serial ?? 0)) return;
        if (t.phase === 'running' && t.node !== undefined && e.serial > (t.newest?.serial ?? 0)) {
          earn(core, t.node, CREDIT.image);
          for (const m of unitOf(core, t)) {
            gotFurther(core, m);
            if (m.phase === 'running') called(core, m);
          }
        }
        t.newest = { image: e.image, serial: e.serial };
        if (t.wanted !== undefined && e.serial > t.wanted) t.wanted = undefined;
        if (t.node !== undefined && (t.phase === 'running' || t.phase === 'assigned')) {
          const node = core.nodes.get(t.node);
          if (node) addImage(node, t, e.image);
        }
        leaveWithImage(core, t);
        moveWithImage(core, t);
        core.changed(t.job);
        return;
      }
      case 'output': {
        const job = core.jobs.get(e.job);
        if (!job) return;
        job.outputBytes = e.bytes;
        checkLimits(core, job);
        return;
      }
      case 'storage':
        return storage(core, e.error);
      case 'jobFailed':
        return this.#fail(e.job, e.error.code, e.error.message);
      case 'progress':
        return progress(core, e.job, e.tasks);
      case 'deadlock': {
        const job = core.jobs.get(e.job);
        if (job) deadlocked(core, job, e.report);
        return;
      }
      case 'cancel': {
        const job = core.jobs.get(e.job);
        if (job) endJob(core, job, 'cancelled', { code: 'CANCELLED', message: e.message ?? 'The job was cancelled.' });
        return;
      }
      case 'kill': {
        const t = core.find(e.job, e.task);
        if (!t || t.node === undefined || !this.acts(e.job, e.task)) return;
        tellToDrop(core, t, t.node, { code: 'FENCED', message: 'This rank was killed manually.' });
        lose(core, t, 'killed');
        return;
      }
      case 'rollBack':
      case 'goOn':
      case 'waveDone': {
        const job = core.jobs.get(e.job);
        if (!job) return;
        if (e.type === 'rollBack') rollBack(core, job, e.epoch, e.changes, e.clusters);
        else if (e.type === 'goOn') goOn(core, job, e.ended, e.cluster);
        else leaveWithWave(core, job);
        return;
      }
      case 'ended': {
        const t = core.find(e.job, e.task);
        if (t) endedForNow(core, t);
        return;
      }
      case 'checkpoint': {
        const t = core.find(e.job, e.task);
        if (!t || over(t.job) || paused(t.job) || t.phase === 'exiting' || t.phase === 'done') return;
        if (recoveryOf(core, t.job).together) return core.emit({ type: 'wantsWave', job: e.job });
        for (const m of unitOf(core, t)) {
          m.wanted = m.newest?.serial ?? 0;
          askForImage(core, m);
        }
        return;
      }
      case 'pause': {
        const job = core.jobs.get(e.job);
        if (job) pauseJob(core, job, e.waitMs);
        return;
      }
      case 'resume': {
        const job = core.jobs.get(e.job);
        if (job) resumeJob(core, job);
        return;
      }
      case 'forget': {
        const job = core.jobs.get(e.job);
        if (job) forget(core, job);
        return;
      }
      case 'tick':
        watch(core);
        watchStragglers(core);
        release(core);
        for (const job of core.jobs.values()) {
          endWait(core, job);
          watchCrowded(core, job);
          watchRegroupings(core, job);
          checkLimits(core, job);
          passTime(core, job);
          if (job.record.state === 'running')
            for (const t of job.tasks) if (t.phase === 'idle' && t.pending) endAmongStrangers(core, t);
        }
        return stillHere(core);
    }
  }

  /** Events of a socket that was replaced, or has sent no Hello, have no effect. */
  #fromNode(e: Extract<DispatcherEvent, { connection: string }>): void {
    const { core } = this;
    const node = core.connections.get(e.connection);
    if (!node || e.type === 'hello') return;
    if (e.type === 'disconnected') return disconnected(core, node, e.connection);
    heard(core, node);
    if (e.type === 'goodbye') return goodbye(core, node);
    if (node.presence.left) return;
    if (e.type === 'heartbeat') heartbeat(core, node, e);
    else if (e.type === 'report') report(core, node, e);
    else if (e.type === 'foresees') foresees(core, node);
    else {
      node.slots = e.slots;
      core.reschedule = true;
      core.nodesChanged = true;
    }
  }

  #persisted(token: number): void {
    const { core } = this;
    const p = core.pending.get(token);
    core.pending.delete(token);
    if (p?.kind === 'raise') raised(core, p.tasks, p.starts, p.formed);
    else if (p?.kind === 'dissolve') dissolved(core, p.job);
    else if (p?.kind === 'exit') exitPersisted(core, p.task);
    else if (p?.kind === 'end') endPersisted(core, p.job);
    else if (p?.kind === 'rollBack') rolledBack(core, p.job, p.epoch);
    else if (p?.kind === 'pause') pausePersisted(core, p.job, p.waitMs, p.since);
  }

  /** An answer counts only for the incarnation and the phase that asked for it. */
  #acting(job: JobId, task: TaskId, incarnation: Incarnation, phase: Task['phase']): Task | undefined {
    const t = this.core.find(job, task);
    return t && !over(t.job) && t.phase === phase && t.incarnation === incarnation ? t : undefined;
  }

  #fail(id: JobId, code: string, message: string): void {
    const job = this.core.jobs.get(id);
    if (job) endJob(this.core, job, 'failed', { code, message });
  }
}
