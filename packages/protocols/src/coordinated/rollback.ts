/**
 * G7: what a Channel Memory has after a rollback to a wave. It drops everything that it held, begins with the counts
 * of the wave's cuts, and has the wave's records as its log: the first arrivals behind the images, in their order. So
 * what was in the channels at the cut arrives once, and what was sent later counts as never sent.
 */
import type { TaskId } from '@mayfly/wire';
import type { ChannelGate, Recorded, TaskOfWave } from '../contract/waves.ts';

/**
 * Brings a new gate to a wave.
 * @param tasks as the wave's record has them
 * @param records of a receiver, in the order of its wave stream
 * @param log the record becomes arrival `number` of its receiver
 */
export function goBack(
  gate: ChannelGate,
  tasks: readonly TaskOfWave[],
  records: (receiver: TaskId) => readonly Recorded[],
  log: (receiver: TaskId, number: number, record: Recorded) => void,
): void {
  for (const t of tasks) {
    const dst = t.task;
    if (t.state === 'ended') {
      gate.ended(dst);
      continue;
    }
    const { arrivals, receives } = t.state === 'image' ? t.cut : { arrivals: 0, receives: [] };
    for (const [src, count] of receives) gate.counted(src, dst, count);
    let number = arrivals;
    for (const record of records(dst)) {
      if (record.body) continue;
      gate.counted(record.src, dst, record.channel);
      log(dst, ++number, record);
      gate.numbered(dst, number, record.src, record.channel);
    }
  }
}
