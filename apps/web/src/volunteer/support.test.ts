import { describe, expect, it } from 'vitest';
import { lacks, obstacle, type Surroundings } from './support.ts';

const fine: Surroundings = {
  secure: true,
  isolated: true,
  sharedMemory: true,
  workers: true,
  webAssembly: true,
  origin: 'https://class.example:7070',
};

describe('obstacle', () => {
  it('finds none where all is there', () => expect(obstacle(fine)).toBeUndefined());
  it('sends a page without HTTPS to HTTPS, or to localhost', () => {
    const o = obstacle({
      ...fine,
      secure: false,
      isolated: false,
      sharedMemory: false,
      origin: 'http://10.0.0.5:7070',
    })!;
    expect(o.title).toContain('HTTPS');
    expect(o.todo.join(' ')).toContain('https://10.0.0.5:7070/volunteer');
    expect(o.todo.join(' ')).toContain('http://localhost:7070/volunteer');
  });
  it('tells a stripped header from an old browser', () => {
    expect(obstacle({ ...fine, isolated: false, sharedMemory: false })!.todo.join(' ')).toContain(
      'Cross-Origin-Opener-Policy',
    );
    expect(obstacle({ ...fine, workers: false })!.why).toContain('Web Workers');
  });
});

describe('what a browser lacks', () => {
  it('is said only of what it lacks, and in words without names of interfaces', () => {
    expect(lacks({ battery: true, memory: true, pressure: true, idle: true })).toEqual([]);
    const firefox = lacks({ battery: false, memory: false, pressure: false, idle: false });
    expect(firefox).toHaveLength(4);
    expect(firefox.join(' ')).toContain('charging');
    expect(firefox.join(' ')).not.toMatch(/Observer|Detector|getBattery/);
  });
});
