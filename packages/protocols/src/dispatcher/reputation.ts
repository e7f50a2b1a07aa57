/**
 * Host reputation (the term of BOINC, whose "reliable hosts" have returned useful results before): which nodes are
 * trusted, and how far.
 *
 * Anybody may open a tab, under as many identities as they like. A node that reports crashes costs a job a restart each
 * time; three such reports must not end the job while an honest node is free. So a failure is held against the node
 * first, and against the program only when nodes with a record fail alike.
 *
 * Owns: credit, blame and quarantine of nodes and of addresses. Does not own: which node takes which rank
 * (placement.ts), what ends a job (failures.ts).
 *
 *  R1  Credit comes from work only that the server sees for itself: ranks that ended, messages logged beyond those of
 *      earlier incarnations, complete images. It goes to the node of the incarnation that did the work. A node with
 *      {@link RECORD} of it has a record, until nothing was heard of its work for {@link RECORD_MS}.
 *  R2  A node in quarantine gets no new ranks and keeps those it has. A quarantine ends after a time; each one lasts
 *      twice as long as the one before.
 *  R3  Blame that turns out to be the program's is taken back, and with it the quarantine that came of it.
 *  R4  An address is blamed only for identities that were in quarantine, and only when they are most of those that came
 *      from it. It delays identities that come later without a record. It does not delay identities that were there
 *      already or have a record.
 *
 * Durable: the reputation of nodes that have or had a record. What strangers did is forgotten with the process: each
 * has one more try after a restart.
 */
import type { NodeId } from '@mayfly/wire';
import type { Core } from './state.ts';
import type { AddressReputation, Reputation, ReputationRecord } from './suspicions.ts';

/** Credit that makes a record: one rank that ended, or work of the other kinds for a while. */
export const RECORD = 1;
export const CREDIT = { ended: 1, messages: 0.1, image: 0.1 } as const;
const MOST_CREDIT = 100;
/** Blame that puts a node into quarantine: a newcomer at once, one with a record only when it keeps failing. */
const NEWCOMER_BEARS = 1;
const RECORD_BEARS = 4;
const HALF_LIFE_MS = 3_600_000;
const RECORD_MS = 30 * 86_400_000;
/** Of an address: so many identities that were in quarantine, at least. */
const BAD_IDENTITIES = 3;
/** An address that was quiet for so long begins again. */
const ADDRESS_MS = 3_600_000;
/** Identities and addresses that are remembered; the oldest strangers are forgotten first. */
const REMEMBERED = 20_000;

export const reputationKey = (node: NodeId): string => `reputation/${node}`;

const fresh = (): Reputation => ({ credit: 0, workedAt: 0, blame: 0, blamedAt: 0, level: 0 });

export function reputationOf(core: Core, node: NodeId): Reputation {
  let r = core.reputations.get(node);
  if (r) return r;
  if (core.reputations.size >= REMEMBERED) forgetStranger(core);
  r = fresh();
  core.reputations.set(node, r);
  return r;
}

/** Maps keep the order of insertion: the oldest one without a record and without a connection goes. */
function forgetStranger(core: Core): void {
  for (const [id, r] of core.reputations)
    if (r.credit < RECORD && !core.nodes.has(id)) {
      core.reputations.delete(id);
      return;
    }
}

/** R1. */
export function hasRecord(core: Core, node: NodeId): boolean {
  if (core.settings.trustNewcomers) return true;
  const r = core.reputations.get(node);
  return r !== undefined && r.credit >= RECORD && core.now - r.workedAt < RECORD_MS;
}

/** R2: when it ends; undefined: it is not in quarantine. */
export function quarantinedUntil(core: Core, node: NodeId): number | undefined {
  const until = core.reputations.get(node)?.quarantinedUntil;
  return until !== undefined && until > core.now ? until : undefined;
}

const blameNow = (core: Core, r: Reputation): number =>
  r.blame === 0 ? 0 : r.blame * 2 ** (-Math.max(0, core.now - r.blamedAt) / HALF_LIFE_MS);

function setBlame(core: Core, r: Reputation, blame: number): void {
  r.blame = blame < 0.01 ? 0 : blame;
  r.blamedAt = core.now;
}

/** Useful work of a node: it makes a record, and makes good for blame. */
export function earn(core: Core, node: NodeId, amount: number): void {
  const r = reputationOf(core, node);
  const had = hasRecord(core, node);
  r.credit = Math.min(MOST_CREDIT, r.credit + amount);
  r.workedAt = core.now;
  if (r.blame > 0) setBlame(core, r, blameNow(core, r) - amount);
  if (amount >= CREDIT.ended) r.level = Math.max(0, r.level - 1);
  if (had !== hasRecord(core, node)) {
    keep(core, node);
    core.nodesChanged = true;
    core.reschedule = true;
  }
}

const keep = (core: Core, node: NodeId): void => {
  const { address: _, ...record } = reputationOf(core, node);
  core.persist({ kind: 'nothing' }, [[reputationKey(node), record satisfies ReputationRecord]]);
};

/** Returns how long the quarantine lasts that this led to, ms; 0: none. */
export function blame(core: Core, node: NodeId, weight: number, why: string): number {
  if (core.settings.trustNewcomers || weight <= 0) return 0;
  const r = reputationOf(core, node);
  setBlame(core, r, blameNow(core, r) + weight);
  const ms =
    r.blame + 1e-9 >= (hasRecord(core, node) ? RECORD_BEARS : NEWCOMER_BEARS) ? quarantine(core, node, r, why) : 0;
  if (r.credit >= RECORD) keep(core, node);
  return ms;
}

function quarantine(core: Core, node: NodeId, r: Reputation, why: string): number {
  const { quarantineMs, quarantineMaxMs } = core.settings;
  const ms = Math.min(quarantineMaxMs, quarantineMs * 2 ** Math.min(r.level, 30));
  r.level++;
  r.quarantinedUntil = core.now + ms;
  core.nextRelease = Math.min(core.nextRelease, r.quarantinedUntil);
  core.nodesChanged = true;
  core.emit({ type: 'log', level: 'warn', message: `node in quarantine for ${Math.round(ms / 1000)} s: ${why}`, node });
  if (r.address !== undefined && !hasRecord(core, node)) blameAddress(core, r.address, node);
  return ms;
}

/** R3. `quarantined`: the blame had led to a quarantine. */
export function takeBack(core: Core, node: NodeId, weight: number, quarantined: boolean): void {
  const r = core.reputations.get(node);
  if (!r) return;
  setBlame(core, r, blameNow(core, r) - weight);
  if (quarantined) {
    r.level = Math.max(0, r.level - 1);
    delete r.quarantinedUntil;
    if (r.address !== undefined) core.addresses.get(r.address)?.bad.delete(node);
    core.nodesChanged = true;
    core.reschedule = true;
  }
  if (r.credit >= RECORD) keep(core, node);
}

/** A node with a record failed where another one did not: half of what it had earned is gone. */
export function loseCredit(core: Core, node: NodeId): void {
  const r = core.reputations.get(node);
  if (!r) return;
  r.credit /= 2;
  keep(core, node);
  core.nodesChanged = true;
}

// Addresses

function addressOf(core: Core, address: string): AddressReputation {
  let a = core.addresses.get(address);
  if (a && core.now - a.heardAt < ADDRESS_MS) return a;
  if (!a && core.addresses.size >= REMEMBERED) core.addresses.delete(core.addresses.keys().next().value!);
  a = { seen: new Set(), bad: new Set(), until: 0, heardAt: core.now };
  core.addresses.set(address, a);
  return a;
}

function blameAddress(core: Core, address: string, node: NodeId): void {
  const a = addressOf(core, address);
  a.heardAt = core.now;
  a.bad.add(node);
  if (!misbehaves(a)) return;
  const { quarantineMs, quarantineMaxMs } = core.settings;
  a.until = core.now + Math.min(quarantineMaxMs, quarantineMs * 2 ** Math.min(30, a.bad.size - BAD_IDENTITIES));
}

/** R4: most of its identities, and more than a few. */
const misbehaves = (a: AddressReputation): boolean => a.bad.size >= BAD_IDENTITIES && 2 * a.bad.size > a.seen.size;

/** At a node's Hello: a newcomer from an address that misbehaves waits as long as the address has to. */
export function came(core: Core, node: NodeId, address: string | undefined): void {
  if (address === undefined) return;
  const r = reputationOf(core, node);
  r.address = address;
  const a = addressOf(core, address);
  const first = !a.seen.has(node);
  if (a.seen.size < REMEMBERED) a.seen.add(node);
  if (
    !first ||
    core.settings.trustNewcomers ||
    hasRecord(core, node) ||
    a.until <= core.now ||
    quarantinedUntil(core, node) !== undefined
  )
    return;
  r.quarantinedUntil = a.until;
  core.nextRelease = Math.min(core.nextRelease, a.until);
}

/** At every tick: nodes whose quarantine is over may get ranks again. */
export function release(core: Core): void {
  const left = core.nextRelease - core.now;
  // A clock that was set back must not make a quarantine endless.
  if (left === Infinity || (left > 0 && left <= core.settings.quarantineMaxMs)) return;
  core.nextRelease = Infinity;
  for (const r of core.reputations.values()) {
    if (r.quarantinedUntil === undefined) continue;
    if (r.quarantinedUntil - core.now > core.settings.quarantineMaxMs)
      r.quarantinedUntil = core.now + core.settings.quarantineMaxMs;
    if (r.quarantinedUntil > core.now) core.nextRelease = Math.min(core.nextRelease, r.quarantinedUntil);
    else delete r.quarantinedUntil;
  }
  core.reschedule = true;
  core.nodesChanged = true;
}

/** After a start of the server. Records that are too old go. */
export function recoverReputations(core: Core, entries: readonly (readonly [key: string, value: unknown])[]): void {
  for (const [key, value] of entries) {
    if (!key.startsWith('reputation/')) continue;
    const record = value as ReputationRecord;
    if (core.now - record.workedAt > RECORD_MS || core.reputations.size >= REMEMBERED)
      core.persist({ kind: 'nothing' }, [[key, undefined]]);
    else core.reputations.set(key.slice('reputation/'.length) as NodeId, { ...record });
    core.nextRelease = 0;
  }
}
