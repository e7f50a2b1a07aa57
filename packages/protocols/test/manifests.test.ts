/** What the manifests promise, the policies keep; and docs/protocols.md says the same. */
import { ProtocolName } from '@mayfly/wire';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FEATURES, PROTOCOL_NAMES, accepts, manifests, protocols, refusalText } from '../src/index.ts';

const DOCS = new URL('../../../docs/protocols.md', import.meta.url);
const TITLES: Record<(typeof FEATURES)[number], string> = {
  scripts: 'programs in TypeScript',
  teams: '[teams](teams.md)',
  parity: '[parity](codes.md) between nodes',
  clusters: '[clusters](clusters.md)',
  spawn: '`MPI_Comm_spawn`',
  checkpoints: 'checkpoints of ranks, and their interval',
  pause: 'pause and resume',
  moves: 'a rank that makes no progress is tried elsewhere',
  ft: "[FT-MPI's modes](ft-mpi.md)",
  strict: '`strict` durability',
};

describe('the manifests', () => {
  it('are there for every protocol, and each protocol has its own', () => {
    expect(PROTOCOL_NAMES.toSorted()).toEqual(ProtocolName.anyOf.map((p) => p.const).toSorted());
    for (const name of PROTOCOL_NAMES) expect(protocols[name].manifest).toBe(manifests[name]);
    for (const name of PROTOCOL_NAMES) expect(manifests[name].name).toBe(name);
  });

  it.each(PROTOCOL_NAMES)('say of %s what its policies do', (name) => {
    const { goesBack } = manifests[name];
    const { recovery, teams, service, log } = protocols[name];
    const clusters = log.stages?.letters.includes('x') === true;
    expect(goesBack !== 'nothing').toBe(recovery.restarts);
    expect(goesBack === 'job' || goesBack === 'cluster').toBe(recovery.together === true);
    expect(goesBack === 'job' || goesBack === 'cluster').toBe(log.goesBack === true);
    expect(goesBack === 'cluster').toBe(clusters);
    if (log.goesBack) expect(service?.kinds).not.toEqual([]);
    expect(accepts(name, 'pause')).toBe(recovery.restarts);
    expect(accepts(name, 'checkpoints')).toBe(recovery.restarts);
    expect(accepts(name, 'moves')).toBe(recovery.restarts);
    expect(accepts(name, 'scripts')).toBe(!recovery.together);
    expect(accepts(name, 'clusters')).toBe(clusters);
    expect(accepts(name, 'spawn')).toBe(!clusters);
    expect(accepts(name, 'ft')).toBe(service !== undefined && !log.goesBack);
    expect(accepts(name, 'strict')).toBe(log.keeps === 'durable');
    expect(accepts(name, 'teams')).toBe(
      recovery.teams === 'transport' || (recovery.teams === 'unit' && teams !== undefined),
    );
    expect(manifests[name].findsCheckpointMs).toBe(recovery.together === true);
  });

  it('refuse with the reason, what to leave out, and who accepts it', () => {
    expect(refusalText('vcl', 'teams')).toBe(
      'The protocol "vcl" does not accept the option "team": every message passes through the server. Leave the ' +
        'option out, or choose "pessimistic" or "none".',
    );
    expect(refusalText('hc3i', 'scripts')).toMatch(
      /^The protocol "hc3i" does not allow this: .*TypeScript.*\. Choose "pessimistic", "app" or "none"\.$/,
    );
    expect(refusalText('pessimistic', 'teams')).toBeUndefined();
  });

  it('are the table of docs/protocols.md', () => {
    const rows = FEATURES.map(
      (f) => `| ${TITLES[f]} | ${PROTOCOL_NAMES.map((p) => (accepts(p, f) ? 'yes' : 'no')).join(' | ')} |`,
    );
    const head = `| | ${PROTOCOL_NAMES.map((p) => `\`${p}\``).join(' | ')} |`;
    expect(readFileSync(DOCS, 'utf8')).toContain([head, '|---|---|---|---|---|---|---|', ...rows].join('\n'));
  });
});
