/**
 * Node's permission model for a job's process: which flags this version of Node has for it. Its main thread may read
 * its bundles and start workers, nothing else: no other file, no child process, no addon, no WASI, no inspector. A
 * rank's thread gets flags of its own, without the right to start workers (a worker can be started with flags that lift
 * every limit, so the right to start one is the right to all) and from Node 25 on without the network.
 *
 * From Node 22 on a thread with flags of its own may read the working directory and what lies below it, whatever its
 * flags say: the process therefore works in the folder of its bundles.
 */

/** What differs between versions of Node; `allowed`: flags of NODE_OPTIONS. */
export function permissionFlags(allowed: ReadonlySet<string> = process.allowedNodeEnvironmentFlags): readonly string[] {
  return [
    allowed.has('--permission') ? '--permission' : '--experimental-permission',
    // Opens files past the permission model (Node 22 to 25).
    ...(allowed.has('--experimental-sqlite') ? ['--no-experimental-sqlite'] : []),
    '--no-addons',
    '--no-warnings',
  ];
}

/** Flags of the main thread. @param bundles paths of the bundles, as the process sees them */
export const mainFlags = (bundles: readonly string[]): string[] => [
  ...permissionFlags(),
  '--allow-worker',
  // Its descriptors are sockets. A rank's thread does without.
  ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
  ...bundles.map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
];

/** Flags of a rank's thread. */
export const rankFlags = (bundles: readonly string[]): string[] => [
  ...permissionFlags(),
  ...bundles.map((path) => `--allow-fs-read=${path}`),
];
