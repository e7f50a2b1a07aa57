/** One fault of any kind in the model of random.test.ts: of the network, a tab, a worker, a person, the server. */
import type { TaskId } from '@mayfly/wire';
import { I, J } from './stage.ts';
import type { Model } from './model.ts';

export function fault(m: Model): void {
  const v = m.volunteers[m.below(m.volunteers.length)]!;
  const w = v.workers[m.below(Math.max(1, v.workers.length))];
  switch (m.below(13)) {
    case 0: // the network goes
      return m.disconnect(v);
    case 1: // the tab is closed properly
      if (v.connection !== undefined)
        m.step({ type: 'goodbye', now: m.now, connection: v.connection, reason: 'closed' });
      v.workers = [];
      v.session++;
      return m.disconnect(v);
    case 2: // the tab is killed
      v.workers = [];
      v.session++;
      v.frozen = false;
      return m.disconnect(v);
    case 3: // reload; the old socket may close later than the new one opens
      v.workers = [];
      v.session++;
      v.frozen = false;
      if (m.below(2)) m.disconnect(v);
      return m.connect(v);
    case 4:
      v.frozen = !v.frozen;
      return;
    case 5: // a worker dies
      if (!w || v.connection === undefined) return;
      v.workers.splice(v.workers.indexOf(w), 1);
      return m.step({
        type: 'report',
        now: m.now,
        connection: v.connection,
        job: w.job,
        task: w.task,
        incarnation: w.incarnation,
        event: 'crashed',
      });
    case 6:
      if (!w || v.connection === undefined) return;
      v.workers.splice(v.workers.indexOf(w), 1);
      return m.step({
        type: 'report',
        now: m.now,
        connection: v.connection,
        job: w.job,
        task: w.task,
        incarnation: w.incarnation,
        event: 'refused',
        error: { code: 'CLONE', message: '' },
      });
    case 7: {
      const id = J(m.below(m.sizes.size));
      return m.step({
        type: 'kill',
        now: m.now,
        job: id,
        task: m.below(m.sizes.get(id) ?? 1) as TaskId,
      });
    }
    case 8:
      v.slots = m.below(4);
      if (v.connection !== undefined && !v.frozen)
        m.step({ type: 'slots', now: m.now, connection: v.connection, slots: v.slots });
      return;
    case 9: // a liar
      if (v.connection === undefined) return;
      return m.step({
        type: 'report',
        now: m.now,
        connection: v.connection,
        job: J(m.below(3)),
        task: m.below(5) as TaskId,
        incarnation: I(m.below(9)),
        event: 'crashed',
      });
    case 10:
      return m.pause(J(m.below(m.sizes.size)));
    case 11:
      return m.resume(J(m.below(m.sizes.size)));
    default:
      return m.below(3) === 0 ? m.crash() : undefined;
  }
}
