/**
 * The shortest way to the slots that a job lacks: a tab of this browser that computes at once, with as many. The click
 * is the consent.
 */
import { reachOf } from './address.ts';
import { computeHere } from './missing-slots.ts';

interface Props {
  lacking: number;
  room: string | undefined;
  className?: string;
}

export function ComputeHere({ lacking, room, className }: Props) {
  const { href, text } = computeHere(lacking, room, navigator.hardwareConcurrency, reachOf(location.origin) === 'here');
  return (
    <a href={href} className={className} target="_blank" rel="noopener">
      {text}
    </a>
  );
}
