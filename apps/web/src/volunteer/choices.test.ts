import { describe, expect, it } from 'vitest';
import { choicesText, choose, defaultSlots, freshName, minuteOf, mostSlots, textOf } from './choices.ts';

const name = () => 'calm-heron-42';

describe('choices', () => {
  it('leaves a core free, unless its owner gives that, too', () => {
    expect([undefined, 1, 2, 8].map(defaultSlots)).toEqual([1, 1, 1, 7]);
    expect([undefined, 1, 2, 8].map(mostSlots)).toEqual([1, 1, 2, 8]);
  });
  it('are one line', () => {
    const text = (over: object, cores?: number) => choicesText({ ...choose('?slots=1', {}, 2, name), ...over }, cores);
    expect([
      text({}, 2),
      text({ slots: 4, share: 50 }, 2),
      text({ onlyVisible: true, onlyCharging: true, onlyIdle: true }, 8),
      text({ hours: { on: true, from: 1320, to: 420 }, room: 'QX7PKM' }),
    ]).toEqual([
      '1 of 2 cores while this tab is open',
      '4 ranks on 2 cores at 50 % while this tab is open',
      '1 of 8 cores while this page is visible, this machine is charging and nobody is using it',
      '1 rank while this tab is open, from 22:00 to 07:00, for room QX7PKM',
    ]);
  });
  it('takes the address first, then what is remembered, then the default', () => {
    expect(choose('', {}, 8, name)).toEqual({
      name: 'calm-heron-42',
      slots: 7,
      room: '',
      share: 100,
      onlyCharging: false,
      onlyVisible: false,
      onlyIdle: false,
      hours: { on: false, from: 1320, to: 420 },
      easeOff: true,
      boardName: '',
      team: '',
      autostart: false,
    });
    expect(choose('', { name: 'me', slots: '3', room: 'AB12' }, 8, name)).toMatchObject({
      name: 'me',
      slots: 3,
      room: 'AB12',
    });
    expect(choose('?start&slots=2&name=x&room=Q', { name: 'me', slots: '3' }, 8, name)).toMatchObject({
      name: 'x',
      slots: 2,
      room: 'Q',
      autostart: true,
    });
  });
  it('remembers when it may compute, and how much', () => {
    expect(
      choose(
        '',
        { share: '40', charging: '1', visible: '1', idle: '1', ease: '0', boardName: 'Ada', team: '7b' },
        8,
        name,
      ),
    ).toMatchObject({
      share: 40,
      onlyCharging: true,
      onlyVisible: true,
      onlyIdle: true,
      easeOff: false,
      boardName: 'Ada',
      team: '7b',
    });
    expect(choose('?ease=0', {}, 8, name).easeOff).toBe(false);
    expect([
      choose('?share=1', {}, 8, name).share,
      choose('?share=50', { share: '20' }, 8, name).share,
      choose('', { share: 'much' }, 8, name).share,
    ]).toEqual([10, 50, 100]);
  });
  it('remembers the hours, and takes no nonsense for some', () => {
    const hours = { on: true, from: 485, to: 0 };
    expect(choose('', { hours: textOf(hours) }, 8, name).hours).toEqual(hours);
    expect(choose('', { hours: 'on 24:00 7:5' }, 8, name).hours).toEqual({ on: true, from: 1320, to: 420 });
    expect([minuteOf('07:05'), minuteOf('7:05'), minuteOf(''), minuteOf(undefined)]).toEqual([
      425,
      undefined,
      undefined,
      undefined,
    ]);
  });
  it('keeps slots sensible', () => {
    expect(choose('?slots=0', {}, 4, name).slots).toBe(1);
    expect(choose('?slots=junk', {}, 4, name).slots).toBe(3);
    expect(choose('?slots=2', {}, 2, name).slots).toBe(2);
    expect(choose('', { slots: '9' }, 4, name).slots).toBe(4);
  });
  it('invents names', () => expect(freshName(() => 0.5)).toMatch(/^[a-z]+-[a-z]+-\d\d$/));
});
