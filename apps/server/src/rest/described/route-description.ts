/** What OpenAPI says of a route beyond its schema. */
export interface Described {
  description: string;
  /** JSON that is sent. */
  request?: unknown;
  /** JSON that is answered. */
  answer?: unknown;
  /** The answer is raw bytes. */
  bytes?: true;
  /** What is sent is raw bytes. */
  sendsBytes?: true;
}
