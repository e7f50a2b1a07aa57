/** Which protocols are compared, in the order of the table. */
import type { ProtocolName } from '@mayfly/wire';

/**
 * `none` first. `app` is for programs that handle a loss themselves, and `hc3i` for jobs that are split into clusters:
 * these programs and commands do neither.
 */
export const PROTOCOL_NAMES: readonly ProtocolName[] = ['none', 'pessimistic', 'vcl', 'pcl'];
