/** What a row of the table of routes says (index.ts). */
import type { Role } from '@mayfly/wire';
import type { TSchema } from 'typebox';

/**
 *   anyone      no token
 *   capability  checked by the route itself: it names one incarnation of one task
 *   viewer, submitter, owner    a token of that role, or of a greater one
 *   own         a submitter for the jobs that its token submitted, an owner for all
 */
export type Access = 'anyone' | 'capability' | 'own' | Role;

/** What Fastify checks, and what OpenAPI says (`hide`: nothing). What `*` stands for in a path has no schema. */
export interface RouteSchema {
  readonly hide?: true;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly response?: Readonly<Record<number, TSchema>>;
}

export interface Route {
  readonly access: Access;
  /** It needs space on the disk for more than a record: refused while there is little. */
  readonly takesSpace?: true;
  readonly schema: RouteSchema;
  /** An example of the JSON that is sent. */
  readonly request?: unknown;
  /** An example of the JSON that is answered. */
  readonly answer?: unknown;
  /**
   * A JSON answer of more than 1 kB is sent compressed. Not where a secret (the code of a room, the address of a
   * webhook) may stand beside a stranger's text (the name of a node): whoever writes the text and sees the length of
   * the answer could try out the secret.
   */
  readonly compressed?: true;
  /** The answer is raw bytes. */
  readonly bytes?: true;
  /** What is sent is raw bytes. */
  readonly sendsBytes?: true;
}
