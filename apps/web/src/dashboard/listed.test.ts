import { expect, test } from 'vitest';
import { listed } from './listed.ts';

const rest = (at: number, ...data: string[]) => ({ data, dataUpdatedAt: at, error: null });
const live = (at: number, ...data: string[]) => ({ data, at });
const online = (since: number) => ({ status: 'online', since }) as const;
const offline = (since: number) => ({ status: 'offline', since }) as const;

test('a list of REST from before the socket does not come back when the socket goes', () => {
  const before = rest(10);
  expect(listed({ status: 'connecting', since: 0 }, undefined, before).data).toEqual([]);
  expect(listed(online(20), live(25, 'a job'), before).data).toEqual(['a job']);
  expect(listed(offline(30), live(25, 'a job'), before).data).toEqual(['a job']);
});

test('while the socket is away REST has the newest list, and keeps it until the socket has brought another', () => {
  const away = rest(34, 'a job', 'one more');
  expect(listed(offline(30), live(25, 'a job'), away).data).toEqual(['a job', 'one more']);
  expect(listed(online(36), live(25, 'a job'), away).data).toEqual(['a job', 'one more']);
  expect(listed(online(36), live(37, 'the newest'), away).data).toEqual(['the newest']);
});

test('I5: an answer of REST that was under way when the socket came is not the newest', () => {
  expect(listed(online(36), live(37, 'the newest'), rest(38, 'older')).data).toEqual(['the newest']);
});

test('an error of REST counts while the socket is away', () => {
  const failed = { data: undefined, dataUpdatedAt: 0, error: new Error('away') };
  expect(listed(offline(30), live(25, 'a job'), failed)).toEqual({ data: ['a job'], error: failed.error });
  expect(listed(online(36), live(25, 'a job'), failed)).toEqual({ data: ['a job'], error: null });
});
