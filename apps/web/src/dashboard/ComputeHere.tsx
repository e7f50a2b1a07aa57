/**
 * The shortest way to the slots that a job lacks: a tab of this browser that computes at once, with as many. The click
 * is the consent.
 */
import { computeHere } from './missing-slots.ts';

export function ComputeHere({ lacking, room }: { lacking: number; room: string | undefined }) {
  const { href, text } = computeHere(lacking, room, navigator.hardwareConcurrency);
  return (
    <a href={href} target="_blank" rel="noopener">
      {text}
    </a>
  );
}
