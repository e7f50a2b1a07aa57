/** `/volunteer`: one button, a few choices, and what this tab is doing. */
import { Link } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { remember, remembered } from '../shared/stored.ts';
import { useNow } from '../shared/useNow.ts';
import { Wings } from '../shared/Wings.tsx';
import { keepOff, keepOn, wasOn } from './resume-after-reload.ts';
import { BoardFields, RoomBoard, whoIs } from './RoomBoard.tsx';
import { choicesText, choose, freshName, mostSlots, textOf, type Choices } from './choices.ts';
import { Controls } from './Controls.tsx';
import { Gifts, HereNow } from './HereNow.tsx';
import { History } from './History.tsx';
import { keepOfflinePage } from './offline.ts';
import * as session from './session.ts';
import { extras, lacks, obstacle, surroundings, type Obstacle } from './support.ts';
import { WishesCard } from './Wishes.tsx';
import { stateWords } from './tab-texts.ts';
import './volunteer.css';

const cores = navigator.hardwareConcurrency;
const inTheWay = obstacle(surroundings());
const missing = lacks(extras());
let begun = false;
keepOfflinePage();
const before = wasOn();
/** Paused by a person; outlives a look at another page, and a reload. */
let pausedUntil: number | undefined = before?.pausedUntil;

const firstChoice = (): Choices =>
  choose(
    location.search,
    {
      name: remembered('name'),
      slots: remembered('slots'),
      room: remembered('room'),
      share: remembered('share'),
      charging: remembered('charging'),
      visible: remembered('visible'),
      idle: remembered('idle'),
      hours: remembered('hours'),
      ease: remembered('ease'),
      boardName: remembered('boardName'),
      team: remembered('team'),
    },
    cores,
    () => freshName(Math.random),
  );

function keep(c: Choices): void {
  remember('name', c.name);
  remember('slots', String(c.slots));
  remember('room', c.room || undefined);
  remember('share', String(c.share));
  remember('charging', c.onlyCharging ? '1' : undefined);
  remember('visible', c.onlyVisible ? '1' : undefined);
  remember('idle', c.onlyIdle ? '1' : undefined);
  remember('hours', textOf(c.hours));
  remember('ease', c.easeOff ? undefined : '0');
  remember('boardName', c.boardName || undefined);
  remember('team', c.team || undefined);
}

const wishesOf = (c: Choices) => ({
  onlyCharging: c.onlyCharging,
  onlyVisible: c.onlyVisible,
  onlyIdle: c.onlyIdle,
  easeOff: c.easeOff,
  hours: c.hours.on ? c.hours : undefined,
  pausedUntil,
});

export function VolunteerPage() {
  const { snapshot, given, sum, rates, seats } = useSyncExternalStore(session.subscribe, session.current);
  const [choice, setChoice] = useState(firstChoice);
  const [most] = useState(() => Math.max(mostSlots(cores), choice.slots));
  const [busy, setBusy] = useState(false);
  const [, redraw] = useState(0);
  const { phase } = snapshot;
  const on = phase !== 'off' && phase !== 'refused';
  const now = useNow(1000, snapshot.silentSince !== undefined);
  const words = stateWords(snapshot, rates, now);

  useEffect(() => {
    if (!(choice.autostart || before) || begun || inTheWay) return;
    begun = true; // once per load of the page, not at every visit of this view
    keepOn(pausedUntil);
    void session.start({ ...choice, wishes: wishesOf(choice), board: whoIs(choice) });
  }, [choice]);

  const press = async () => {
    keep(choice);
    begun = true;
    if (phase === 'leaving') return void session.stop();
    setBusy(true);
    pausedUntil = undefined;
    if (on) keepOff();
    else keepOn(undefined);
    await (on ? session.stop() : session.start({ ...choice, wishes: wishesOf(choice), board: whoIs(choice) })).finally(
      () => setBusy(false),
    );
  };
  const change = (part: Partial<Choices>) => {
    const next = { ...choice, ...part };
    setChoice(next);
    if (!on) return;
    keep(next);
    if (part.slots !== undefined) session.setSlots(next.slots);
    if (part.share !== undefined) session.setShare(next.share);
    session.setWishes(wishesOf(next));
  };
  const finish = () => {
    keepOff();
    void session.stop(true);
  };
  const pause = (until: number | undefined) => {
    pausedUntil = until;
    keepOn(until);
    redraw((n) => n + 1);
    session.setWishes(wishesOf(choice));
  };

  if (inTheWay) return <CannotWork obstacle={inTheWay} />;
  return (
    <div className="volunteer">
      <title>{on ? `${words.title.split(' ')[0]} – Mayfly` : 'Volunteer – Mayfly'}</title>
      <section className={`stage tone-${words.tone}`} data-phase={phase}>
        <h1 className="visually-hidden">Volunteer this tab</h1>
        <Button
          className="orb"
          isDisabled={busy && phase !== 'leaving'}
          onPress={() => void press()}
          aria-describedby="volunteer-detail"
        >
          <span className="rings" aria-hidden="true">
            <i />
            <i />
          </span>
          <Wings className="orb-wings" />
          <span className="orb-word">{phase === 'leaving' ? 'Stop now' : on ? 'Stop' : 'Start'}</span>
        </Button>
        <div className="says" role="status">
          <p className="phase" data-testid="volunteer-state">
            {words.title}
          </p>
          <p className="muted" id="volunteer-detail">
            {words.detail}
          </p>
        </div>
        {phase === 'refused' && snapshot.error && <p className="wrong">{snapshot.error.code}</p>}
        <Controls
          phase={phase}
          paused={pausedUntil !== undefined && pausedUntil > Date.now()}
          onPause={pause}
          onFinish={finish}
        />
        <details className="choices-line">
          <summary>
            <span data-testid="choices">{choicesText(choice, cores)}</span>; <span className="change">change</span>
          </summary>
          <div className="settings">
            <WishesCard choice={choice} most={most} cores={cores} change={change} />
            <section className="card" aria-label="Who, and for whom">
              <div className="pair">
                <TextField
                  className="field"
                  value={choice.name}
                  onChange={(name) => setChoice({ ...choice, name })}
                  isDisabled={on}
                  maxLength={80}
                  isRequired
                >
                  <Label>Name of this tab</Label>
                  <Input />
                </TextField>
                <TextField
                  className="field"
                  value={choice.room}
                  onChange={(room) => setChoice({ ...choice, room })}
                  isDisabled={on}
                  maxLength={64}
                  autoComplete="off"
                >
                  <Label>Room code</Label>
                  <Input placeholder="if someone gave you one" />
                </TextField>
              </div>
              <BoardFields choice={choice} on={on} change={(part) => setChoice({ ...choice, ...part })} />
              <p className="hint">
                {on
                  ? 'Press Stop to change names or the room.'
                  : 'With a room code, this tab runs only that room’s jobs.'}
              </p>
            </section>
          </div>
        </details>
        <section className="promise muted small">
          <p>
            Programs run in a sandboxed frame without access to your files, your accounts or the network. They use this
            machine’s processor and up to a few hundred megabytes of memory. Only a small cache stays behind; the
            browser deletes it with the site’s data.{' '}
            <Link to="/docs/$name" params={{ name: 'sandbox' }}>
              What a program can and cannot do here
            </Link>
            .
          </p>
          {missing.length > 0 && (
            <details>
              <summary>What this browser cannot report</summary>
              <ul className="todo">
                {missing.map((m) => (
                  <li key={m}>{m}</li>
                ))}
              </ul>
            </details>
          )}
        </section>
      </section>

      <HereNow snapshot={snapshot} given={given} rates={rates} seats={seats} />
      <div className="record">
        <Gifts sum={sum} on={on} />
        <History events={snapshot.history} on={on} />
        {phase !== 'refused' && <RoomBoard room={choice.room} who={whoIs(choice)} on={on} />}
      </div>
    </div>
  );
}

function CannotWork({ obstacle: o }: { obstacle: Obstacle }) {
  return (
    <div className="narrow">
      <title>Volunteer – Mayfly</title>
      <h1>This tab cannot compute yet</h1>
      <section className="notice tone-warn">
        <h2 data-testid="volunteer-state">This browser cannot compute here: {o.title}</h2>
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
