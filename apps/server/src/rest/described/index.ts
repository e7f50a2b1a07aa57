/**
 * What OpenAPI says of each route beyond its schema: a description, and examples of what is sent and answered. A test
 * holds it complete and the examples valid.
 */
import { HISTORY } from './history.ts';
import { JOBS } from './jobs.ts';
import { NODES } from './nodes.ts';
import { RESULTS } from './results.ts';
import { SERVER } from './server.ts';
import type { Described } from './route-description.ts';

export const DESCRIBED: Readonly<Record<string, Described>> = {
  ...SERVER,
  ...JOBS,
  ...HISTORY,
  ...RESULTS,
  ...NODES,
};
