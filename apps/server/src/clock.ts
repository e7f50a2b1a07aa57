/**
 * The server's clock: that of the machine as this process found it when it started, going on by the monotonic one. A
 * wall clock that jumps (a bad time server for a minute, a person at `date`) would otherwise end running jobs at their
 * time limit, take all nodes for silent, and delete ended jobs as too old. What somebody outside has promised by the
 * wall clock (the end of a token, a certificate) is compared with `Date.now()`.
 */
const origin = Date.now() - performance.now();

/** Milliseconds since the epoch, never backwards. Time in which the machine sleeps does not count. */
export const clock = (): number => Math.floor(origin + performance.now());
