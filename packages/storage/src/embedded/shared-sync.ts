/**
 * A sync that many share: a caller joins the next one, never one that has begun, which might miss what the caller has
 * just written.
 * @returns resolves when a sync has ended that began after the call; rejects as that one. The failure of the one before
 * concerns others
 */
export function sharedSync(sync: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return async () => {
    await underWay?.catch(() => undefined);
    underWay ??= sync().finally(() => (underWay = undefined));
    await underWay;
  };
}
