import { expect, test } from 'vitest';
import { ParityHolder, ParityMember, Protection, decodePlan, formGroups, separate } from '../../src/parity/index.ts';
import type {
  HolderEffect,
  HolderEvent,
  MemberEffect,
  MemberEvent,
  ProtectionEffect,
  ProtectionEvent,
} from '../../src/parity/index.ts';
import { IMAGE_FORMAT, PAGE_BYTES, imageIdOf, incarnation, taskId } from '@mayfly/wire';
import { job, noise } from '../../src/acceptance/local-images.ts';
import { ErasureCode } from '../../src/codes/index.ts';
import { Assembly, createHash, cutImage } from '../../src/index.ts';
import { product } from '../codes/oracle.ts';
import { CHECKSUMS, MEMBERS, Model, PARTS, Violation, type Parts } from './model.ts';

function chanceOf(seed: number): (below: number) => number {
  let a = seed >>> 0;
  return (below) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const manifest = {
  format: IMAGE_FORMAT,
  image: imageIdOf(job, taskId(0), incarnation(0), 1),
  job,
  task: taskId(0),
  incarnation: incarnation(0),
  program: '0'.repeat(64),
  serial: 1,
  position: { protocol: 'pessimistic', version: 1, at: null },
} as const;

const STEPS = 400;
function run(seed: number, parts: Partial<Parts>, waves: boolean, seen?: Map<string, number>): void {
  const model = new Model(chanceOf(seed), { ...PARTS, ...parts }, waves);
  for (let i = 0; i < STEPS; i++) {
    model.step();
    model.check();
  }
  for (const [what, n] of model.seen) seen?.set(what, (seen.get(what) ?? 0) + n);
}
const byWave: Partial<Parts> = {
  member: (holders, stable) => new ParityMember({ holders, stable, decides: 'wave' }),
};

/** The first seed that finds it, and how. */
function found(parts: Partial<Parts>, waves = false): string | undefined {
  for (let seed = 1; seed <= 200; seed++)
    try {
      run(seed, parts, waves);
    } catch (e) {
      if (!(e instanceof Violation)) throw e;
      return e.message;
    }
  return undefined;
}

test('Q18: whatever is lost within what the group should survive, level 1 makes the bytes of a protected image again', () => {
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 40; seed++) run(seed, {}, false, seen);
  expect(seen.get('protected')!).toBeGreaterThan(100);
  expect(seen.get('recovered')!).toBeGreaterThan(30);
  expect(seen.get('holder new')!).toBeGreaterThan(30);
  expect(seen.get('crash')!).toBeGreaterThan(100);
});

test('Q18 under waves: the bytes of the committed wave', () => {
  const seen = new Map<string, number>();
  for (let seed = 1; seed <= 8; seed++) run(seed, byWave, true, seen);
  expect(seen.get('wave')!).toBeGreaterThan(10);
});

// Planted bugs, each undoes one rule.

class AppliesAtOnce extends ParityHolder {
  override step(event: HolderEvent): HolderEffect[] {
    if (event.kind !== 'change') return super.step(event);
    const { member, version } = event;
    const effects = super.step(event);
    const apply = super.step({ kind: 'apply', member, version }).filter((e) => e.kind === 'fold');
    return [...effects.filter((e) => e.kind === 'store'), ...apply, ...effects.filter((e) => e.kind !== 'store')];
  }
}
test('planted, Z2: a holder applies a change before all have prepared it', () => {
  expect(found({ holder: (state) => new AppliesAtOnce(state) })).toBeDefined();
});

class DropsOldImage extends ParityMember {
  override step(event: MemberEvent): MemberEffect[] {
    const old = this.stable;
    const effects = super.step(event);
    const ordered = effects.some((e) => e.kind === 'send-apply');
    return ordered && this.stable === old ? [...effects, { kind: 'forget', version: old }] : effects;
  }
}
test('planted, Z3: a member drops its old image when holders begin to apply', () => {
  expect(
    found({ member: (holders, stable) => new DropsOldImage({ holders, stable, decides: 'member' }) }),
  ).toBeDefined();
});

test('planted, Z4: each holder’s checksum is taken as it is', () => {
  const plan: Parts['plan'] = (q) => {
    const holders = q.holders.map(
      (h) => h && { applied: h.applied.map((v, j) => h.prepared[j] ?? v), prepared: h.prepared.map(() => undefined) },
    );
    return decodePlan({ ...q, holders });
  };
  expect(found({ plan })).toBeDefined();
});

test('planted, Z5: a wave commits before all groups have prepared it', () => {
  expect(found({ ...byWave, reports: MEMBERS - 1 }, true)).toBeDefined();
});

/** A lost holder counts. */
class CountsLost extends Protection {
  #lost = 0;
  override get spare(): number {
    return super.spare + this.#lost;
  }
  override step(event: ProtectionEvent): ProtectionEffect[] {
    const before = super.spare;
    const effects = super.step(event);
    if (event.kind === 'holder-lost') this.#lost += before - super.spare;
    return effects;
  }
}
test('planted, Z6: a lost holder counts', () => {
  expect(found({ protection: () => new CountsLost(MEMBERS, CHECKSUMS) })).toBeDefined();
});

/** A new holder counts at once. */
class CountsNew extends Protection {
  override step(event: ProtectionEvent): ProtectionEffect[] {
    return super.step(event).flatMap((e) => {
      if (e.kind !== 'tell-holder-new') return [e];
      return [e, ...e.members.flatMap((member) => super.step({ ...e, kind: 'joined', member }))];
    });
  }
}
test('planted, Z6: a new holder counts before it has the members’ images', () => {
  expect(found({ protection: () => new CountsNew(MEMBERS, CHECKSUMS) })).toBeDefined();
});

/** A member that was made again begins at once; holders never hear from which image. */
class SettlesNothing extends Protection {
  override step(event: ProtectionEvent): ProtectionEffect[] {
    const effects = super.step(event);
    return effects.flatMap((e) => {
      if (e.kind !== 'send-settle') return [e];
      return super.step({ kind: 'settled', holder: e.holder, member: e.member, version: e.version });
    });
  }
}
test('planted, Z7: a member that was made again counts before the holders have settled its version', () => {
  expect(found({ protection: () => new SettlesNothing(MEMBERS, CHECKSUMS) })).toBeDefined();
});

class BelievesOldReport extends Protection {
  override step(event: ProtectionEvent): ProtectionEffect[] {
    return event.kind === 'hello' ? [] : super.step(event);
  }
}
test('planted, Z8: a holder counts although its storage is empty', () => {
  expect(found({ protection: () => new BelievesOldReport(MEMBERS, CHECKSUMS) })).toBeDefined();
});

test('Z4: a recovery takes an image that all holders can show, not a newer one that some cannot', () => {
  const none = [undefined, undefined, undefined];
  const holders = [
    { applied: [5, 1, 2], prepared: [undefined, undefined, 3] },
    { applied: [5, 1, 2], prepared: none },
  ];
  const q = { members: 3, checksums: 2, images: [[5], [1], undefined] };
  // With the third member at image 3, the second holder would have nothing of it: one more loss would be too many.
  expect(decodePlan({ ...q, holders })?.lost).toEqual([{ member: 2, version: 2 }]);
  expect(decodePlan({ ...q, holders: [holders[0], undefined] })?.lost).toEqual([{ member: 2, version: 3 }]);
  expect(decodePlan({ ...q, holders, versions: [undefined, undefined, 3] })).toMatchObject({ lost: [{ version: 3 }] });
  expect(decodePlan({ ...q, holders: [undefined, undefined] })).toBeUndefined();
});

test('Z1: members and holders of a group are on different nodes, and holders share the load', () => {
  let grouped = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const chance = chanceOf(seed);
    const nodes = Array.from({ length: 1 + chance(9) }, (_, i) => i);
    const tasks = Array.from({ length: 1 + chance(12) }, (_, task) => ({ task, node: chance(nodes.length) }));
    const wishes = { members: 1 + chance(5), checksums: 1 + chance(3) };
    const groups = formGroups(tasks, nodes, wishes);
    expect(groups.every(separate)).toBe(true);
    expect(groups.every((g) => g.members.length <= wishes.members && g.holders.length === wishes.checksums)).toBe(true);
    const inGroups = groups.flatMap((g) => g.members.map((m) => m.task));
    expect(new Set(inGroups).size).toBe(inGroups.length);
    // Whoever has enough other nodes is in a group.
    if (nodes.length > wishes.checksums) expect(inGroups).toHaveLength(tasks.length);
    grouped += groups.length;
  }
  expect(grouped).toBeGreaterThan(100);
  const groups = formGroups(
    [0, 1, 2, 3].map((task) => ({ task, node: task })),
    [0, 1, 2, 3],
    { members: 2, checksums: 2 },
  );
  expect(groups.map((g) => g.holders)).toEqual([
    [2, 3],
    [0, 1],
  ]);
});

test('planted, Z1: two members on one node are found', () => {
  expect(
    separate({
      members: [
        { task: 0, node: 1 },
        { task: 1, node: 1 },
      ],
      holders: [2],
    }),
  ).toBe(false);
  expect(separate({ members: [{ task: 0, node: 1 }], holders: [1] })).toBe(false);
});

test('planted, Vandermonde: three members and the checksum x² of four are lost', () => {
  const lostAll = { members: 3, checksums: 4, images: [undefined, undefined, undefined] };
  const holder = { applied: [0, 0, 0], prepared: [undefined, undefined, undefined] };
  const power = (x: number, e: number): number => (e === 0 ? 1 : product(x, power(x, e - 1)));
  const vandermonde = [0, 1, 2, 3].map((e) => [1, 2, 3].map((x) => power(x, e)));
  const failing = (matrix?: number[][]): number[] =>
    [0, 1, 2, 3].filter((gone) => {
      const holders = [0, 1, 2, 3].map((h) => (h === gone ? undefined : holder));
      return decodePlan({ ...lostAll, holders, ...(matrix ? { matrix } : {}) }) === undefined;
    });
  expect(failing()).toEqual([]);
  expect(failing(vandermonde)).toContain(2);
});

test('Z8: a holder that lies is found by the hash of the page', async () => {
  const image = (seed: number): Uint8Array<ArrayBuffer> => noise(2 * PAGE_BYTES, seed);
  const code = new ErasureCode(2, 1);
  const checksum = new Uint8Array(2 * PAGE_BYTES);
  code.encode([image(1), image(2)], [checksum]);
  const cut = await cutImage([{ name: 'memory', bytes: image(1) }]);
  const assembly = (): Promise<Assembly> => createHash().then((hash) => new Assembly({ ...manifest, ...cut }, hash));
  for (const lie of [undefined, 70_000]) {
    const held = checksum.slice();
    if (lie !== undefined) held[lie]! ^= 1;
    const made = [new Uint8Array(2 * PAGE_BYTES)];
    code.decode(
      code.recovery([1, 2], [0]),
      new Map([
        [1, image(2)],
        [2, held],
      ]),
      made,
    );
    const into = await assembly();
    const good = cut.pages.map((name, i) => into.place(name, made[0]!.subarray(i * PAGE_BYTES, (i + 1) * PAGE_BYTES)));
    expect(good).toEqual([true, lie === undefined]);
  }
});
