/** How many ranks, and what that means with the slots that are here. */
import type { ReactNode } from 'react';
import { Button, Group, Input, Label, NumberField } from 'react-aria-components';
import { Tag } from '../../shared/Tag.tsx';
import type { Word } from '../../shared/tone.ts';

interface Props {
  size: number;
  onChange: (n: number) => void;
  /** How the job would fare now. */
  advice: Word | undefined;
  /** What to do about it. */
  way: ReactNode;
  wrong: string[];
}

export function Ranks({ size, onChange, advice, way, wrong }: Props) {
  return (
    <NumberField
      className="field"
      value={size}
      onChange={(n) => onChange(Number.isNaN(n) ? 1 : n)}
      minValue={1}
      maxValue={1024}
      step={1}
    >
      <Label>Ranks</Label>
      <Group className="number">
        <Button slot="decrement" className="button">
          −
        </Button>
        <Input />
        <Button slot="increment" className="button">
          +
        </Button>
      </Group>
      <div className="advice">
        <span role="status">{advice && <Tag tone={advice.tone}>{advice.text}</Tag>}</span>
        {advice && way}
      </div>
      {wrong.map((t) => (
        <span key={t} className="wrong">
          {t}
        </span>
      ))}
    </NumberField>
  );
}
