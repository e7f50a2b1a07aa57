/** K25, of teams that were made of others and are dissolved into smaller ones. */
import { imageIdOf, incarnation, jobId, taskId, type ImageId } from '@mayfly/wire';
import { expect, it } from 'vitest';
import { TeamUnits, type TeamImage } from '../src/checkers/team-units.ts';

const image = (task: number, serial: number): ImageId =>
  imageIdOf(jobId('sim000000000'), taskId(task), incarnation(0), serial);
const nobody: TeamImage = { wave: 0, received: new Map(), sent: new Map(), channels: new Map() };

/** Ranks 0 to 2 become a team; 0 and 1 begin as a smaller one. `received`: what 0 has counted of 1, which sent it 5. */
function smallerTeam(received: TeamImage['received']): TeamUnits {
  const all = [0, 1, 2];
  const from = (serial: number) => all.map((task) => ({ task: taskId(task), image: image(task, serial), sends: [] }));
  const team = all.map(taskId);
  // the log has only 3 to 5 of what 1 had sent to 0 before
  const units = new TeamUnits(
    () => false,
    (src, dst, n) => src === 1 && dst === 0 && n > 2,
  );
  for (const task of all) units.imageTaken(image(task, 1), nobody);
  units.dissolved({ team, merged: [], groups: [team], wave: 1, from: from(1) });
  units.imageTaken(image(0, 2), { ...nobody, wave: 1, received });
  units.imageTaken(image(1, 2), { ...nobody, wave: 1, sent: new Map([[0, 5]]) });
  units.imageTaken(image(2, 2), { ...nobody, wave: 1 });
  units.dissolved({ team, groups: [[taskId(0), taskId(1)]], from: from(2) });
  for (const task of [0, 1])
    units.assigned({ task, incarnation: 1, image: image(task, 2), team: [0, 1], node: 'n', at: 1 });
  return units;
}

it('a smaller team does not know either what nobody had counted before the team was made', () => {
  expect(() => smallerTeam(new Map()).begins(0, 1)).not.toThrow();
});

it('… and what it has counted must be right', () => {
  expect(() => smallerTeam(new Map([[1, 1]])).begins(0, 1)).toThrow(/^K25: task 1 had sent 5 messages to 0/);
});
