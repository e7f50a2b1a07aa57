/** How many ranks, and what that means with the slots that are here. */
import { Button, Group, Input, Label, NumberField } from 'react-aria-components';
import { Tag } from '../../shared/Tag.tsx';
import type { Word } from '../../shared/tone.ts';

export function Ranks({ size, onChange, advice, wrong }: { size: number; onChange: (n: number) => void; advice: Word | undefined; wrong: string[] }) {
  return (
    <NumberField className="field" value={size} onChange={(n) => onChange(Number.isNaN(n) ? 1 : n)} minValue={1} maxValue={1024} step={1}>
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
      {advice && (
        <span className="advice" role="status">
          <Tag tone={advice.tone}>{advice.text}</Tag>
        </span>
      )}
      {wrong.map((t) => (
        <span key={t} className="wrong">
          {t}
        </span>
      ))}
    </NumberField>
  );
}
