/** When this tab may compute, and how much: remembered, and believed at once. */
import { mayDetectIdle, timeOfDay } from '@mayfly/node/page';
import { useEffect, useRef, useState } from 'react';
import { Label, Slider, SliderOutput, SliderThumb, SliderTrack, Text } from 'react-aria-components';
import { plural } from '../shared/format.ts';
import { LEAST_SHARE, minuteOf, type Choices } from './choices.ts';
import { extras } from './support.ts';

interface Props {
  choice: Choices;
  /** The most that the slider of slots offers. */
  most: number;
  cores: number | undefined;
  change: (part: Partial<Choices>) => void;
}

const have = extras();

export function WishesCard({ choice, most, cores, change }: Props) {
  const rest = cores ? cores - choice.slots : 0;
  const [refused, setRefused] = useState(false);
  const onlyIdle = async (wanted: boolean) => {
    const may = !wanted || (await mayDetectIdle());
    setRefused(!may);
    change({ onlyIdle: wanted && may });
  };
  return (
    <section className="card choices" aria-label="How much, and when">
      {most === 1 ? (
        <p>
          <span className="label">One slot</span>
          <span className="hint">
            {' '}
            – {cores ? `this machine has ${plural(cores, 'core')}; ` : ''}one rank at a time leaves the other cores to
            you.
          </span>
        </p>
      ) : (
        <Range
          label="Slots"
          says={`${plural(choice.slots, 'rank')} at a time`}
          hint={
            cores
              ? 'This machine has ' +
                `${plural(cores, 'core')}${rest > 0 ? `; ${plural(rest, 'stays', 'stay')} free for you` : rest === 0 ? ', all in use' : '; ranks share them'}.`
              : ''
          }
          min={1}
          max={most}
          value={choice.slots}
          onChange={(slots) => change({ slots })}
        />
      )}
      <Range
        label="Share of each core"
        says={choice.share === 100 ? 'all of it' : `${choice.share} %`}
        hint={
          choice.share === 100
            ? 'Ranks use a core whenever they have work.'
            : 'Ranks pause at their MPI calls for the rest of the time. Other ranks may have to wait for them.'
        }
        min={LEAST_SHARE}
        max={100}
        step={10}
        value={choice.share}
        onChange={(share) => change({ share })}
      />
      <fieldset className="radios">
        <legend className="label">Compute</legend>
        <label className="check">
          <input
            type="checkbox"
            checked={choice.onlyCharging}
            disabled={!have.battery}
            onChange={(e) => change({ onlyCharging: e.target.checked })}
          />
          <span>
            only while this machine is charging
            {!have.battery && <span className="muted"> – this browser cannot tell</span>}
          </span>
        </label>
        <label className="check">
          <input
            type="checkbox"
            checked={choice.onlyVisible}
            onChange={(e) => change({ onlyVisible: e.target.checked })}
          />
          <span>only while this page is visible</span>
        </label>
        <div className="hours">
          <label className="check">
            <input
              type="checkbox"
              checked={choice.hours.on}
              onChange={(e) => change({ hours: { ...choice.hours, on: e.target.checked } })}
            />
            <span>only during these hours</span>
          </label>
          <div className="row">
            <TimeOfDay
              label="Compute from"
              minute={choice.hours.from}
              onChange={(from) => change({ hours: { ...choice.hours, from } })}
            />
            <span>to</span>
            <TimeOfDay
              label="Compute until"
              minute={choice.hours.to}
              onChange={(to) => change({ hours: { ...choice.hours, to } })}
            />
          </div>
        </div>
        {have.idle && (
          <label className="check">
            <input type="checkbox" checked={choice.onlyIdle} onChange={(e) => void onlyIdle(e.target.checked)} />
            <span>
              only while nobody is using this machine
              {refused && <span className="muted"> – this browser was not allowed to detect that</span>}
            </span>
          </label>
        )}
        {have.pressure && (
          <label className="check">
            <input type="checkbox" checked={choice.easeOff} onChange={(e) => change({ easeOff: e.target.checked })} />
            <span>slow down when the processor is busy or hot</span>
          </label>
        )}
      </fieldset>
    </section>
  );
}

/** After the last key of a time that is being typed: half of it would be another time, which could give ranks back. */
const TYPED_MS = 1200;

function TimeOfDay({ label, minute, onChange }: { label: string; minute: number; onChange: (minute: number) => void }) {
  const [text, setText] = useState(timeOfDay(minute));
  const typed = minuteOf(text);
  const told = useRef(onChange);
  told.current = onChange;
  useEffect(() => {
    if (typed === undefined || typed === minute) return;
    const later = setTimeout(() => told.current(typed), TYPED_MS);
    return () => clearTimeout(later);
  }, [typed, minute]);
  return (
    <input
      className="in num"
      type="time"
      aria-label={label}
      required
      value={text}
      onChange={(e) => setText(e.target.value)}
    />
  );
}

interface RangeProps {
  label: string;
  says: string;
  hint: string;
  min: number;
  max: number;
  step?: number;
  value: number;
  onChange: (n: number) => void;
}

function Range({ label, says, hint, min, max, step = 1, value, onChange }: RangeProps) {
  return (
    <Slider className="slider" minValue={min} maxValue={max} step={step} value={value} onChange={onChange}>
      <Label className="label">{label}</Label>
      <SliderOutput>{says}</SliderOutput>
      <SliderTrack className="track">
        {({ state }) => (
          <>
            <div className="fill" style={{ width: `${state.getThumbPercent(0) * 100}%` }} />
            <SliderThumb className="thumb" />
          </>
        )}
      </SliderTrack>
      <Text className="hint wide">{hint}</Text>
    </Slider>
  );
}
