/** The server-side cores of all jobs, as one service whose effects the hosts perform. */
import { CheckpointServer, Dispatcher, JobService } from '@mayfly/protocols';
import { clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { ResolvedOptions } from './options.ts';

/**
 * A node that lives is mostly back on a new socket by then (packages/node/src/daemon). Where somebody has set the
 * grace, that holds.
 */
const BRIEF_GRACE_MS = 100;

type Outlets = ConstructorParameters<typeof JobService>[1];

export function compose(
  options: ResolvedOptions,
  logger: Logger,
  performs: Pick<Outlets, 'dispatcher' | 'images' | 'commit' | 'waves' | 'replace'>,
): JobService {
  const settings = {
    ...(options.dispatcher?.graceMs === undefined ? { briefGraceMs: BRIEF_GRACE_MS } : {}),
    ...options.dispatcher,
  };
  const cores = {
    dispatcher: new Dispatcher(settings),
    images: new CheckpointServer({ imageBytes: options.limits.imageBytes }),
  };
  return new JobService(cores, {
    now: () => clock(),
    ...performs,
    // A defect; one bad event must not end the server. The registry has what is durable.
    log: (level, job, message) => logger[level]({ job }, message),
    defect: (core, event, error) => logger.error({ err: error, core, event }, 'a core failed on an event'),
  });
}
