/** How many slots a job lacks, and the address of a tab that brings them. Pure. */
import type { JobView, NodeView } from '@mayfly/wire';
import { plural } from '../shared/format.ts';
import { slotsOf } from './status-texts.ts';

/** Ranks that one tab of a small machine is asked to hold, for a first look; more than its cores take turns. */
const FEW = 4;

/** Slots that are lacking for the ranks of a job that have none; 0: it can begin as soon as the server looks. */
export function lackingFor(job: JobView, nodes: readonly NodeView[]): number {
  const wanted = job.state === 'waiting' ? job.size : job.tasks.filter((t) => t.state === 'unassigned').length;
  return Math.max(0, wanted - slotsOf(nodes, job.room ?? '', job.program.language).free);
}

/** `lacking`: 0 asks for what the volunteer page would offer by itself. */
export function computeHere(
  lacking: number,
  room: string | undefined,
  cores: number | undefined,
): { href: string; text: string } {
  const slots = Math.min(lacking, Math.max(FEW, cores || 1));
  const query = [
    `start`,
    ...(slots > 0 ? [`slots=${slots}`] : []),
    ...(room ? [`room=${encodeURIComponent(room)}`] : []),
  ].join('&');
  return {
    href: `/volunteer?${query}`,
    text: slots > 0 ? `Compute in a new tab (${plural(slots, 'slot')})` : 'Compute in a new tab',
  };
}
