/** What the chart asks and hears: REST for what was, the dashboard's socket for what comes. */
import type { JobId } from '@mayfly/wire';
import { getTimeline } from '../../api.ts';
import type { Live } from '../../live.ts';
import type { Chart, ChartHost } from './chart.ts';

export function hostOf(
  live: Live,
  job: JobId,
  changed: (now?: boolean) => void,
): { host: ChartHost; connect: (c: Chart) => () => void } {
  let chart: Chart | undefined;
  let off: (() => void) | undefined;
  const host: ChartHost = {
    read: async (asked, abort) => {
      const view = await getTimeline(job, asked, abort);
      return { ...view, bytes: await inflate(view.shares) };
    },
    look: (timeline) => {
      off?.();
      off =
        timeline &&
        live.look(
          { job, timeline },
          { timeline: (n) => chart?.news(n), arrows: (n) => chart?.arrows(n), again: () => chart?.again() },
        );
    },
    now: Date.now,
    changed,
  };
  return {
    host,
    connect: (c) => {
      chart = c;
      return () => {
        chart = undefined;
        off?.();
      };
    },
  };
}

/** base64 of raw deflate. */
export async function inflate(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Uint8Array(
    await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer(),
  );
}
