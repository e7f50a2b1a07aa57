/**
 * A group of nodes in one thread: storage, connections and crashes around the cores of image parity. One random step at
 * a time; bytes are real, and after each step the checker Q18 loses every set of nodes that the group should survive
 * and decodes. The arithmetic is that of the oracle, not of the codes.
 *
 * Hosts perform effects one by one, so a crash comes between any two. Connections keep the order, and lose what is on
 * the way when they are cut.
 */
import {
  ParityHolder,
  ParityMember,
  Protection,
  decodePlan,
  type DecodePlan,
  type DecodeQuestion,
  type HolderEffect,
  type HolderEvent,
  type HolderState,
  type MemberEffect,
  type MemberEvent,
  type ProtectionEffect,
  type ProtectionEvent,
} from '../../src/parity/index.ts';
import { subsets } from '../../src/acceptance/codes.ts';
import { cauchyByDefinition, product } from '../codes/oracle.ts';

export const [MEMBERS, CHECKSUMS] = [3, 2];
const BYTES = 5;
const MATRIX = cauchyByDefinition(CHECKSUMS, MEMBERS);

/** What a planted bug replaces. */
export interface Parts {
  member: (holders: number[], stable: number) => Pick<ParityMember, 'step' | 'images'>;
  holder: (state: HolderState) => ParityHolder;
  protection: () => Pick<Protection, 'step' | 'spare'>;
  plan: (q: DecodeQuestion) => DecodePlan | undefined;
  /** Under waves: reports of `prepared` that commit a wave. */
  reports: number;
}
export const PARTS: Parts = {
  member: (holders, stable) => new ParityMember({ holders, stable, decides: 'member' }),
  holder: (state) => new ParityHolder(state),
  protection: () => new Protection(MEMBERS, CHECKSUMS),
  plan: decodePlan,
  reports: MEMBERS,
};

interface MemberNode {
  /** Undefined while holders settle the image that it goes on from. */
  core: Pick<ParityMember, 'step' | 'images'> | undefined;
  readonly images: Map<number, Uint8Array>;
  todo: MemberEffect[];
}
interface HolderNode {
  core: ParityHolder;
  disk: { checksum: Uint8Array; applied: (number | undefined)[]; prepared: (number | undefined)[] };
  changes: Map<number, Uint8Array>;
  todo: { effect: HolderEffect; bytes?: Uint8Array }[];
}
type Message =
  | { readonly to: 'holder'; readonly event: HolderEvent; readonly bytes?: Uint8Array }
  | { readonly to: 'member'; readonly event: MemberEvent }
  | { readonly to: 'dispatcher'; readonly event: ProtectionEvent };

const add = (to: Uint8Array, from: Uint8Array, c: number): Uint8Array => to.map((b, k) => b ^ product(c, from[k]!));

export class Violation extends Error {}

export class Model {
  readonly members: (MemberNode | undefined)[];
  readonly holders: (HolderNode | undefined)[];
  readonly protection;
  /** Every image that was ever taken, by member. */
  private readonly truth = Array.from(
    { length: MEMBERS },
    () => new Map<number, Uint8Array>([[0, new Uint8Array(BYTES)]]),
  );
  /** The newest image of each member that level 1 has promised. */
  private readonly promised = Array<number>(MEMBERS).fill(0);
  private versions = 0;
  private readonly wires = new Map<string, Message[]>();
  private readonly reports = new Map<number, number>();
  private wave = 0;
  /** How often each thing happened. */
  readonly seen = new Map<string, number>();

  constructor(
    private readonly chance: (below: number) => number,
    private readonly parts: Parts,
    private readonly waves = false,
  ) {
    this.protection = parts.protection();
    const holders = Array.from({ length: CHECKSUMS }, (_, h) => h);
    this.members = Array.from({ length: MEMBERS }, () => ({
      core: parts.member(holders, 0),
      images: new Map<number, Uint8Array>([[0, new Uint8Array(BYTES)]]),
      todo: [],
    }));
    this.holders = holders.map(() => this.blankHolder(0));
  }

  private blankHolder(applied: number | undefined): HolderNode {
    const disk: HolderNode['disk'] = {
      checksum: new Uint8Array(BYTES),
      applied: Array<number | undefined>(MEMBERS).fill(applied),
      prepared: Array<number | undefined>(MEMBERS).fill(undefined),
    };
    return { core: this.parts.holder(disk), disk, changes: new Map(), todo: [] };
  }

  private send(key: string, message: Message): void {
    const wire = this.wires.get(key);
    if (wire) wire.push(message);
    else this.wires.set(key, [message]);
  }

  private forget(pick: (key: string) => boolean): void {
    for (const key of this.wires.keys()) if (pick(key)) this.wires.delete(key);
  }

  private count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  /** One random step. */
  step(): void {
    const { chance } = this;
    const kind = chance(100);
    if (kind < 8) this.takeImage();
    else if (kind < 50) this.perform();
    else if (kind < 90) this.deliver();
    else if (kind < 92) this.crashHolder(chance(CHECKSUMS));
    else if (kind < 95) this.cut(chance(MEMBERS), chance(CHECKSUMS));
    else if (this.waves) return;
    else if (kind < 96) this.loseMember(chance(MEMBERS));
    else if (kind < 97) this.loseHolder(chance(CHECKSUMS), chance(2) === 0);
    else this.repair();
  }

  private takeImage(): void {
    if (this.waves) return this.takeWave();
    const j = this.chance(MEMBERS);
    const m = this.members[j];
    if (m?.core) this.image(j, ++this.versions);
  }

  private image(j: number, version: number): void {
    const m = this.members[j]!;
    const bytes = Uint8Array.from({ length: BYTES }, () => this.chance(256));
    this.truth[j]!.set(version, bytes);
    m.images.set(version, bytes);
    m.todo.push(...m.core!.step({ kind: 'image', version }));
    this.count('image');
  }

  private takeWave(): void {
    if (this.wave !== this.versions) return;
    this.versions++;
    for (let j = 0; j < MEMBERS; j++) this.image(j, this.versions);
  }

  private perform(): void {
    const busy = [...this.members, ...this.holders].flatMap((node, at) => (node && node.todo.length > 0 ? [at] : []));
    if (busy.length === 0) return;
    const at = busy[this.chance(busy.length)]!;
    if (at < MEMBERS) this.performMember(at);
    else this.performHolder(at - MEMBERS);
  }

  private performMember(j: number): void {
    const m = this.members[j];
    const effect = m?.todo.shift();
    if (!m || !effect) return;
    const to = (event: HolderEvent, holder: number, bytes?: Uint8Array): void =>
      this.send(`m${j}>h${holder}`, { to: 'holder', event, ...(bytes ? { bytes } : {}) });
    const image = (version: number): Uint8Array => {
      const bytes = m.images.get(version);
      if (!bytes) throw new Violation(`member ${j} has forgotten image ${version}`);
      return bytes;
    };
    switch (effect.kind) {
      case 'keep':
        return;
      case 'send-change': {
        const { holder, base, version } = effect;
        const difference = add(image(version), image(base), 1);
        const bytes = add(new Uint8Array(BYTES), difference, MATRIX[holder]![j]!);
        return to({ kind: 'change', member: j, base, version }, holder, bytes);
      }
      case 'send-image': {
        const bytes = add(new Uint8Array(BYTES), image(effect.version), MATRIX[effect.holder]![j]!);
        return to({ kind: 'image', member: j, version: effect.version }, effect.holder, bytes);
      }
      case 'send-apply':
        return to({ kind: 'apply', member: j, version: effect.version }, effect.holder);
      case 'send-drop':
        return to({ kind: 'drop', member: j, version: effect.version }, effect.holder);
      case 'report-prepared':
        return this.reported(effect.version);
      case 'report-protected':
        this.promised[j] = effect.version;
        this.count('protected');
        return;
      case 'report-joined':
        return this.send(`m${j}>d`, {
          to: 'dispatcher',
          event: { ...effect, kind: 'joined', member: j },
        });
      case 'forget':
        m.images.delete(effect.version);
    }
  }

  /** Z5: the wave's record. */
  private reported(version: number): void {
    this.reports.set(version, (this.reports.get(version) ?? 0) + 1);
    if (this.reports.get(version) !== this.parts.reports) return;
    this.wave = version;
    this.count('wave');
    for (const [j, m] of this.members.entries()) {
      if (this.truth[j]!.has(version)) this.promised[j] = version;
      m?.todo.push(...m.core!.step({ kind: 'decided', version }));
    }
  }

  private performHolder(h: number): void {
    const node = this.holders[h];
    const next = node?.todo.shift();
    if (!node || !next) return;
    const { effect, bytes } = next;
    const { disk, changes } = node;
    const { member } = effect;
    switch (effect.kind) {
      case 'store':
        disk.prepared[member] = effect.version;
        changes.set(member, bytes!);
        return;
      case 'fold':
        disk.checksum = add(disk.checksum, changes.get(member)!, 1);
        disk.applied[member] = effect.version;
        disk.prepared[member] = undefined;
        return;
      case 'add':
        disk.checksum = add(disk.checksum, bytes!, 1);
        disk.applied[member] = effect.version;
        return;
      case 'discard':
        if (disk.prepared[member] === effect.version) disk.prepared[member] = undefined;
        return;
      case 'send-prepared':
      case 'send-applied':
      case 'send-encoded': {
        const kind = effect.kind.slice(5) as 'prepared' | 'applied' | 'encoded';
        this.send(`h${h}>m${member}`, { to: 'member', event: { kind, holder: h, version: effect.version } });
        return;
      }
      case 'send-settled':
        this.send(`h${h}>d`, { to: 'dispatcher', event: { ...effect, kind: 'settled', holder: h } });
        return;
      case 'report-broken':
        this.count('broken');
        this.send(`h${h}>d`, { to: 'dispatcher', event: { kind: 'broken', holder: h } });
    }
  }

  private deliver(): void {
    const keys = [...this.wires.keys()].filter((k) => this.wires.get(k)!.length > 0);
    if (keys.length === 0) return;
    const key = keys[this.chance(keys.length)]!;
    const message = this.wires.get(key)!.shift()!;
    const at = Number(key.split(/>[a-z]/)[1]);
    if (message.to === 'dispatcher') return this.dispatch(message.event);
    if (message.to === 'member') {
      const m = this.members[at];
      m?.todo.push(...(m.core?.step(message.event) ?? []));
    } else this.toHolder(at, message.event, message.bytes);
  }

  private toHolder(h: number, event: HolderEvent, bytes?: Uint8Array): void {
    const node = this.holders[h];
    if (node) for (const effect of node.core.step(event)) node.todo.push(bytes ? { effect, bytes } : { effect });
  }

  private dispatch(event: ProtectionEvent): void {
    for (const e of this.protection.step(event)) this.obey(e);
  }

  private obey(e: ProtectionEffect): void {
    switch (e.kind) {
      case 'send-settle':
        this.send(`d>h${e.holder}`, { to: 'holder', event: { ...e, kind: 'settle' } });
        return;
      case 'begin-member': {
        const m = this.members[e.member];
        if (m) m.core = this.parts.member(e.holders, e.version);
        return;
      }
      case 'tell-holder-lost':
        // The node takes no part any more, even if it is still there.
        this.holders[e.holder] = undefined;
        this.forget((k) => k.includes(`h${e.holder}`));
        for (const m of this.members) {
          if (!m) continue;
          // What was to go to it goes nowhere; reports of it are void by their round.
          m.todo = m.todo.filter((x) => !('holder' in x && x.holder === e.holder) || x.kind === 'report-joined');
          m.todo.push(...(m.core?.step({ kind: 'holder-lost', holder: e.holder }) ?? []));
        }
        return;
      case 'tell-holder-new':
        for (const j of e.members) {
          const m = this.members[j];
          m?.todo.push(...(m.core?.step({ ...e, kind: 'holder-new' }) ?? []));
        }
    }
  }

  /** The process ends and begins again with what is durable. */
  private crashHolder(h: number): void {
    const node = this.holders[h];
    if (!node) return;
    this.count('crash');
    this.forget((k) => k.includes(`h${h}`));
    node.todo = [];
    node.core = this.parts.holder(node.disk);
    this.dispatch({ kind: 'hello', holder: h, have: node.core.have });
    if (this.holders[h]) for (let j = 0; j < MEMBERS; j++) this.connected(j, h);
  }

  private connected(j: number, h: number): void {
    const m = this.members[j];
    // Orders that were not sent go over the new connection, and repeat nothing.
    m?.todo.push(...(m.core?.step({ kind: 'connected', holder: h }) ?? []));
  }

  private cut(j: number, h: number): void {
    if (!this.holders[h]) return;
    this.forget((k) => k === `m${j}>h${h}` || k === `h${h}>m${j}`);
    this.connected(j, h);
  }

  private loseMember(j: number): void {
    if (!this.members[j] || this.protection.spare < 1) return;
    this.count('member lost');
    this.members[j] = undefined;
    this.forget((k) => k.includes(`m${j}`));
    this.dispatch({ kind: 'member-lost', member: j });
  }

  /** Lost as a node, or only its storage: then it comes back with nothing (Z8). */
  private loseHolder(h: number, storage: boolean): void {
    if (!this.holders[h] || this.protection.spare < 1) return;
    this.count('holder lost');
    this.forget((k) => k.includes(`h${h}`));
    if (!storage) {
      this.holders[h] = undefined;
      this.dispatch({ kind: 'holder-lost', holder: h });
      return;
    }
    this.holders[h] = this.blankHolder(undefined);
    this.dispatch({ kind: 'hello', holder: h, have: undefined });
  }

  private repair(): void {
    const lost = this.members.findIndex((m) => m === undefined);
    if (lost >= 0) return this.recoverAll();
    const h = this.holders.findIndex((x) => x === undefined);
    if (h < 0) return;
    this.holders[h] = this.blankHolder(undefined);
    this.count('holder new');
    this.dispatch({ kind: 'holder-new', holder: h });
  }

  private recoverAll(): void {
    const made = this.decode(new Set());
    for (const { member, version, bytes } of made) {
      this.members[member] = { core: undefined, images: new Map<number, Uint8Array>([[version, bytes]]), todo: [] };
      this.count('recovered');
      this.dispatch({ kind: 'recovered', member, version });
    }
  }

  /** Q18: any set of nodes that the group should survive. */
  check(): void {
    const nodes = MEMBERS + CHECKSUMS;
    const alive = (s: number): boolean => (s < MEMBERS ? this.members[s] : this.holders[s - MEMBERS]) !== undefined;
    for (const gone of subsets(nodes, Math.max(0, this.protection.spare)))
      if (gone.every(alive)) this.decode(new Set(gone));
  }

  /** What would be made again if these nodes were lost as well. */
  private decode(gone: ReadonlySet<number>): { member: number; version: number; bytes: Uint8Array }[] {
    const members = this.members.map((m, j) => (gone.has(j) ? undefined : m));
    const holders = this.holders.map((h, i) => (gone.has(MEMBERS + i) ? undefined : h));
    const plan = this.parts.plan({
      members: MEMBERS,
      checksums: CHECKSUMS,
      holders: holders.map((h) => h?.disk),
      images: members.map((m) => m && [...m.images.keys()]),
      ...(this.waves ? { versions: Array<number>(MEMBERS).fill(this.wave) } : {}),
    });
    const where = `lost: ${[...gone].join()}, members ${members.map((m) => (m ? 'y' : 'n')).join('')}`;
    if (!plan) throw new Violation(`level 1 cannot make the images again (${where})`);
    const sums = plan.lost.map((): Uint8Array => new Uint8Array(BYTES));
    for (const { at, terms } of plan.stations)
      for (const { sum, coefficient, of } of terms) {
        const holder = holders[at.index];
        const bytes =
          of.kind === 'image'
            ? members[at.index]?.images.get(of.version)
            : of.kind === 'checksum'
              ? holder?.disk.checksum
              : holder?.changes.get(of.member);
        if (!bytes) throw new Violation(`${at.kind} ${at.index} does not have what the plan asks for (${where})`);
        sums[sum] = add(sums[sum]!, bytes, coefficient);
      }
    return plan.lost.map(({ member, version }, i) => {
      const truth = this.truth[member]!.get(version);
      if (!truth?.every((b, k) => b === sums[i]![k]))
        throw new Violation(`member ${member}: not the bytes of image ${version} (${where})`);
      if (version < this.promised[member]!)
        throw new Violation(
          `member ${member}: image ${version}, but ${this.promised[member]} was protected (${where})`,
        );
      return { member, version, bytes: sums[i]! };
    });
  }
}
