/**
 * The manifest of every V-protocol, and what is asked of it. `@mayfly/protocols/manifests` is all that pages and
 * commands need of the protocols: it brings none of their code.
 */
import type { ProtocolName } from '@mayfly/wire';
import { manifest as app } from './app/manifest.ts';
import type { Feature, Manifest } from './contract/manifest.ts';
import { pcl, vcl } from './coordinated/manifest.ts';
import { manifest as hc3i } from './hc3i/manifest.ts';
import { manifest as none } from './none/manifest.ts';
import { manifest as pessimistic } from './pessimistic/manifest.ts';

export { FEATURES, type Feature, type GoesBack, type Manifest } from './contract/manifest.ts';

/** In the order in which they are offered. */
export const manifests: Readonly<Record<ProtocolName, Manifest>> = { pessimistic, vcl, pcl, hc3i, app, none };
export const PROTOCOL_NAMES = Object.keys(manifests) as readonly ProtocolName[];
/** Of a job that chooses none. */
export const DEFAULT_PROTOCOL: ProtocolName = pessimistic.name;

/** Why a job may not ask for this under a protocol. Undefined: it may. */
export const refusalOf = (protocol: ProtocolName, feature: Feature): string | undefined =>
  manifests[protocol].refuses[feature];
export const accepts = (protocol: ProtocolName, feature: Feature): boolean =>
  refusalOf(protocol, feature) === undefined;

/** Ranks that are lost run again. */
export const restarts = (protocol: ProtocolName): boolean => manifests[protocol].goesBack !== 'nothing';
/** A loss takes all ranks, or all of a cluster, back to their last common checkpoint. */
export const goesBackTogether = (protocol: ProtocolName): boolean =>
  manifests[protocol].goesBack === 'job' || manifests[protocol].goesBack === 'cluster';

/** What a submission calls a feature; the others are no options of it. */
const OPTIONS: Partial<Record<Feature, string>> = {
  teams: 'team',
  parity: 'parity',
  clusters: 'clusters',
  checkpoints: 'checkpointMs',
  moves: 'stuckAfterMs" or "stuckFactor',
  ft: 'ft',
  strict: 'durability',
};

/** `"vcl", "pcl" or "none"` */
const oneOf = (names: readonly string[]): string =>
  names.map((n, i) => `${i === 0 ? '' : i === names.length - 1 ? ' or ' : ', '}"${n}"`).join('');

/** The refusal in full sentences, with what to do. Undefined: it is accepted. */
export function refusalText(protocol: ProtocolName, feature: Feature): string | undefined {
  const reason = refusalOf(protocol, feature);
  if (reason === undefined) return undefined;
  const others = oneOf(PROTOCOL_NAMES.filter((p) => accepts(p, feature)));
  const option = OPTIONS[feature];
  return option === undefined
    ? `The protocol "${protocol}" does not allow this: ${reason}. Choose ${others}.`
    : `The protocol "${protocol}" does not accept the option "${option}": ${reason}. Leave the option out, or choose ${others}.`;
}
