/** Routes of the data plane, for nodes: program, input files, images. Each needs the capability of an incarnation. */
import { Type } from 'typebox';
import { HashSchema, ImageIdSchema, JobIdSchema, TaskIdSchema } from '@mayfly/wire';
import type { Route } from '../route.ts';

const Cap = Type.Object({ cap: Type.String({ maxLength: 1024 }) });
/** Pages of one answer at most: 16 MiB. */
const MAX_RUN = 256;

export const DATA = {
  'GET /data/program/:job': {
    access: 'capability',
    schema: { hide: true, params: Type.Object({ job: JobIdSchema }), querystring: Cap },
  },
  'GET /data/files/:job/:hash': {
    access: 'capability',
    schema: { hide: true, params: Type.Object({ job: JobIdSchema, hash: HashSchema }), querystring: Cap },
  },
  'GET /data/picture/:job': {
    access: 'capability',
    schema: { hide: true, params: Type.Object({ job: JobIdSchema }), querystring: Cap },
  },
  'GET /data/images/:job/:task/:image': {
    access: 'capability',
    schema: {
      hide: true,
      params: Type.Object({ job: JobIdSchema, task: TaskIdSchema, image: ImageIdSchema }),
      querystring: Cap,
    },
  },
  'GET /data/images/:job/:task/:image/pages': {
    access: 'capability',
    schema: {
      hide: true,
      params: Type.Object({ job: JobIdSchema, task: TaskIdSchema, image: ImageIdSchema }),
      querystring: Type.Object({
        cap: Cap.properties.cap,
        from: Type.Integer({ minimum: 0, maximum: 65_536 }),
        count: Type.Integer({ minimum: 1, maximum: MAX_RUN }),
      }),
    },
  },
} satisfies Readonly<Record<string, Route>>;
