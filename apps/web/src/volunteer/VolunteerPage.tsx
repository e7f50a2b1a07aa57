/** `/volunteer`: one button, a few choices, and what this tab is doing. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Button, Input, Label, Slider, SliderOutput, SliderThumb, SliderTrack, Text, TextField } from 'react-aria-components';
import { plural } from '../shared/format.ts';
import { remember, remembered } from '../shared/stored.ts';
import { Wings } from '../shared/Wings.tsx';
import { choose, freshName, mostSlots, type Choices } from './choices.ts';
import { HereNow, History } from './HereNow.tsx';
import * as session from './session.ts';
import { obstacle, surroundings, type Obstacle } from './support.ts';
import { stateWords } from './words.ts';
import './volunteer.css';

const cores = navigator.hardwareConcurrency;
const inTheWay = obstacle(surroundings());
let begun = false;

const firstChoice = (): Choices =>
  choose(location.search, { name: remembered('name'), slots: remembered('slots'), room: remembered('room') }, cores, () => freshName(Math.random));

export function VolunteerPage() {
  const { snapshot, given } = useSyncExternalStore(session.subscribe, session.current);
  const [choice, setChoice] = useState(firstChoice);
  const [most] = useState(() => Math.max(mostSlots(cores), choice.slots));
  const [busy, setBusy] = useState(false);
  const on = snapshot.phase !== 'off' && snapshot.phase !== 'refused';
  const words = stateWords(snapshot);

  useEffect(() => {
    if (!choice.autostart || begun || inTheWay) return;
    begun = true; // once per load of the page, not at every visit of this view
    void session.start(choice);
  }, [choice]);

  const press = async () => {
    remember('name', choice.name);
    remember('slots', String(choice.slots));
    remember('room', choice.room || undefined);
    setBusy(true);
    await (on ? session.stop() : session.start(choice)).finally(() => setBusy(false));
  };
  const setSlots = (slots: number) => {
    setChoice({ ...choice, slots });
    if (on) session.setSlots(slots);
  };

  if (inTheWay) return <CannotWork obstacle={inTheWay} />;
  return (
    <div className="volunteer">
      <title>{on ? `${words.title.split(' ')[0]} – Mayfly` : 'Volunteer – Mayfly'}</title>
      <section className={`stage tone-${words.tone}`} data-phase={snapshot.phase}>
        <h1 className="visually-hidden">Volunteer this tab</h1>
        <Button className="orb" isDisabled={busy} onPress={() => void press()} aria-describedby="volunteer-detail">
          <span className="rings" aria-hidden="true">
            <i />
            <i />
          </span>
          <Wings className="orb-wings" />
          <span className="orb-word">{on ? 'Stop' : 'Start'}</span>
        </Button>
        <div className="says" role="status">
          <p className="phase" data-testid="volunteer-state">
            {words.title}
          </p>
          <p className="muted" id="volunteer-detail">
            {words.detail}
          </p>
        </div>
        {snapshot.phase === 'refused' && snapshot.error && <p className="wrong">{snapshot.error.code}</p>}
      </section>

      <section className="card choices" aria-label="Your choices">
        {most === 1 ? (
          <p>
            <span className="label">One slot</span>
            <span className="hint"> – {cores ? `this machine has ${plural(cores, 'core')}; ` : ''}one rank at a time leaves the rest to you.</span>
          </p>
        ) : (
          <Slider className="slider" minValue={1} maxValue={most} value={choice.slots} onChange={setSlots}>
            <Label className="label">Slots</Label>
            <SliderOutput>{plural(choice.slots, 'rank')} at a time</SliderOutput>
            <SliderTrack className="track">
              {({ state }) => (
                <>
                  <div className="fill" style={{ width: `${state.getThumbPercent(0) * 100}%` }} />
                  <SliderThumb className="thumb" />
                </>
              )}
            </SliderTrack>
            <Text className="hint wide">
              {cores ? `This machine has ${plural(cores, 'core')}${choice.slots < cores ? `; ${plural(cores - choice.slots, 'stays', 'stay')} free for you` : ', all of them taken'}.` : ''}
            </Text>
          </Slider>
        )}
        <div className="pair">
          <TextField className="field" value={choice.name} onChange={(name) => setChoice({ ...choice, name })} isDisabled={on} maxLength={80} isRequired>
            <Label>Name of this tab</Label>
            <Input />
          </TextField>
          <TextField className="field" value={choice.room} onChange={(room) => setChoice({ ...choice, room })} isDisabled={on} maxLength={64} autoComplete="off">
            <Label>Room code</Label>
            <Input placeholder="only if you were given one" />
          </TextField>
        </div>
        {on && <p className="hint">Name and room can be changed after Stop.</p>}
      </section>

      <HereNow snapshot={snapshot} given={given} />
      <History events={snapshot.history} />

      <section className="promise muted small">
        <p>
          Programs run in a sealed frame without access to your files, your accounts or the network; they use this machine’s processor and up to
          a few hundred megabytes of memory. Nothing stays behind but a small cache, which the browser removes with the site’s data.
        </p>
      </section>
    </div>
  );
}

function CannotWork({ obstacle: o }: { obstacle: Obstacle }) {
  return (
    <div className="narrow">
      <title>Volunteer – Mayfly</title>
      <h1>This tab cannot compute yet</h1>
      <section className="notice tone-warn">
        <h2 data-testid="volunteer-state">Cannot work here: {o.title}</h2>
        <p>{o.why}</p>
        <h3>What to do</h3>
        <ul className="todo">
          {o.todo.map((t) => (
            <li key={t}>{t}</li>
          ))}
        </ul>
      </section>
    </div>
  );
}
