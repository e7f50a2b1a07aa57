/**
 * The routes of REST, in one table. A row says who may use a route, what it takes and answers, and, with examples, what
 * OpenAPI tells of it. The server serves the rows and refuses a route without one; the client (client.ts) takes its
 * types from them.
 *
 * A new route is a row here and a handler in the server: `app.route({ ...at('GET /api/…'), handler })`.
 */
import type { Route } from './route.ts';
import { DATA } from './routes/data.ts';
import { HISTORY } from './routes/history.ts';
import { JOBS } from './routes/jobs.ts';
import { LESSONS } from './routes/lessons.ts';
import { NODES } from './routes/nodes.ts';
import { OUTPUTS } from './routes/outputs.ts';
import { PEOPLE } from './routes/people.ts';
import { REPORTS } from './routes/reports.ts';
import { SERVER } from './routes/server.ts';

const TABLE = {
  ...SERVER,
  ...PEOPLE,
  ...JOBS,
  ...OUTPUTS,
  ...HISTORY,
  ...REPORTS,
  ...NODES,
  ...LESSONS,
  ...DATA,
};

export type Routes = typeof TABLE;
/** 'GET /api/jobs/:id' */
export type RouteName = keyof Routes;

export const routes: Readonly<Record<string, Route>> = TABLE;

/** Method, address and schema of a route, for Fastify. */
export function at<K extends RouteName>(name: K): { method: Method; url: string; schema: Routes[K]['schema'] } {
  const [method, url] = name.split(' ') as [Method, string];
  return { method, url, schema: { ...TABLE[name].schema } };
}
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export type { Access, Route, RouteSchema } from './route.ts';
