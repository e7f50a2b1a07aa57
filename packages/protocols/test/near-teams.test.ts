/** Sets of images of a team at level 1, at the Checkpoint Server (images/near-teams.ts). */
import { IMAGE_FORMAT, imageIdOf, incarnation, jobId, taskId, type ImageId, type Manifest } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { zeroLine } from '../src/index.ts';
import { positionInTeam } from '../src/pessimistic/teams/position.ts';
import { ServerStage, page, type EffectOf } from './checkpoint-server-stage.ts';

const J = jobId('job000000000');
const TEAM = [0, 1].map(taskId);
const program = 'f'.repeat(64);
const manifest = (task: number, wave: number, life = 0): Manifest => ({
  format: IMAGE_FORMAT,
  image: imageIdOf(J, taskId(task), incarnation(life), wave),
  job: J,
  task: taskId(task),
  incarnation: incarnation(life),
  program,
  serial: wave,
  position: positionInTeam({
    replay: { prologue: zeroLine(), image: { ...zeroLine(), arrivals: wave }, held: [] },
    local: [],
    received: [],
    wave,
  }),
  sections: [{ name: 'data', bytes: 65_536 }],
  pages: [page(100 * task + wave)],
  bytes: 65_536,
});
const image = (task: number, wave: number): ImageId => manifest(task, wave).image;

class Stage extends ServerStage {
  constructor(parity = true) {
    super();
    const acting = TEAM.map((t) => [t, incarnation(0)] as const);
    const programs = [{ count: 2, hash: program }];
    const wholeEvery = parity ? { wholeEvery: 4 } : {};
    this.send('openJob', {
      job: J,
      protocol: 'pessimistic',
      size: 2,
      channelMemories: 1,
      programs,
      ...wholeEvery,
      acting,
    });
    this.send('teams', { job: J, teams: [TEAM] });
  }

  /** The images of a wave come, as far as nothing is missing. */
  wave(wave: number, near: readonly boolean[]): void {
    for (const [t, isNear] of near.entries()) {
      const m = manifest(t, wave);
      const link = `L${t}`;
      const [find] = this.send('offer', {
        link,
        job: J,
        task: m.task,
        incarnation: m.incarnation,
        manifest: m,
        near: isNear,
      }) as [EffectOf<'findPages'>];
      this.send('pagesFound', { image: m.image, ask: find.ask, missing: m.pages });
      if (!isNear) this.send('pageStored', { link, image: m.image, index: 0, bytes: 65_536 });
      this.send('end', { link, image: m.image });
      this.send('covered', { image: m.image, cm: 0, determinants: [] });
    }
    if (!near.includes(true)) this.send('committed', { image: image(0, wave) });
  }

  /** @returns effects of the last member's fence */
  restart(life = 1): ReturnType<ServerStage['send']> {
    this.effects.length = 0;
    return TEAM.map((task) => this.send('restart', { job: J, task, incarnation: incarnation(life) })).at(-1)!;
  }
}
const replies = (s: Stage): string[] => s.of('reply').map((r) => `${r.reply} ${r.image.split('-')[1]}`);

it('C19: a set of level 1 counts when it is whole; no log is trimmed, nothing is committed', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  expect(replies(s)).toEqual(['stored 0', 'stored 1', 'complete 0', 'complete 1']);
  expect(s.of('near').map((e) => e.savedBytes)).toEqual([65_536, 65_536]);
  expect([...s.of('commit'), ...s.of('trim')]).toEqual([]);
});

it('C19: a mixed set is refused, and the one before stays', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.effects.length = 0;
  s.wave(2, [true, false]);
  expect(replies(s).slice(-2)).toEqual(['refused 0', 'refused 1']);
  expect(TEAM.map((t) => s.core.nearOf(J, t).image)).toEqual([image(0, 1), image(1, 1)]);
});

it('C19: a newer set at the server takes its place', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.wave(2, [false, false]);
  expect(s.core.nearOf(J, TEAM[0]!).image).toBeUndefined();
  s.restart();
  expect(s.of('rebuild')).toEqual([]);
  expect(s.of('check').map((e) => e.image)).toEqual([image(0, 2), image(1, 2)]);
});

it('C20: a restart commits the set when all its images are here, and takes it', () => {
  const s = new Stage();
  s.wave(1, [false, false]);
  s.wave(2, [true, true]);
  expect(s.restart().map((e) => e.type)).toEqual(['rebuild', 'rebuild']);
  expect(s.send('rebuilt', { image: image(1, 2) })).toEqual([]);
  const [commit] = s.send('rebuilt', { image: image(0, 2) }) as [EffectOf<'commit'>];
  expect([commit.manifest, ...commit.others!].map((m) => m.image)).toEqual([image(0, 2), image(1, 2)]);
  s.send('committed', { image: commit.image });
  for (const t of [0, 1]) s.send('checked', { image: image(t, 2), sound: true });
  expect(s.of('chosen').map((e) => e.image)).toEqual([image(0, 2), image(1, 2)]);
});

it('C20: without one of its images none of the set is used', () => {
  const s = new Stage();
  s.wave(1, [false, false]);
  s.wave(2, [true, true]);
  s.restart();
  s.send('rebuilt', { image: image(0, 2) });
  s.send('rebuilt', { image: image(1, 2), error: 'two nodes are lost' });
  expect(s.of('nearLost')).toMatchObject([{ task: 1, reason: 'two nodes are lost' }]);
  expect(s.of('commit')).toEqual([]);
  expect(s.of('check').map((e) => e.image)).toEqual([image(0, 1), image(1, 1)]);
  expect(TEAM.map((t) => s.core.nearOf(J, t).image)).toEqual([undefined, undefined]);
});

it('C20: a member that is fenced again while the set is made again waits for it', () => {
  const s = new Stage();
  s.wave(1, [true, true]);
  s.restart(1);
  expect(s.restart(2)).toEqual([]);
  for (const t of [0, 1]) s.send('rebuilt', { image: image(t, 1) });
  s.send('committed', { image: image(0, 1) });
  for (const t of [0, 1]) s.send('checked', { image: image(t, 1), sound: true });
  expect(s.of('chosen')).toMatchObject([{ incarnation: 2 }, { incarnation: 2 }]);
});

it('a team that is dissolved has no set of level 1 any more', () => {
  const s = new Stage();
  s.wave(1, [false, false]);
  s.wave(2, [true, true]);
  const from = TEAM.map((task) => ({ task, image: image(task, 1), sends: [] }));
  s.send('teams', { job: J, teams: [], dissolved: [{ team: TEAM, from }] });
  s.send('restart', { job: J, task: TEAM[0]!, incarnation: incarnation(1) });
  expect(s.of('rebuild')).toEqual([]);
  expect(s.of('check').map((e) => e.image)).toEqual([image(0, 1)]);
});

it('an image of level 1 is refused in a job without parity', () => {
  const s = new Stage(false);
  const m = manifest(0, 1);
  s.send('offer', { link: 'L', job: J, task: m.task, incarnation: m.incarnation, manifest: m, near: true });
  expect(s.of('reply')).toMatchObject([{ reply: 'refused', error: { code: 'CONFLICT' } }]);
});
