/**
 * `/widget`: the volunteer page as another site embeds it. Nothing runs before the visitor agreed in here, at every
 * load anew; it never begins by itself. Where the embedding page is not isolated, it offers a small window of its own.
 */
import { useState, useSyncExternalStore } from 'react';
import { useNow } from '../shared/useNow.ts';
import { choose, freshName, defaultSlots } from '../volunteer/choices.ts';
import * as session from '../volunteer/session.ts';
import { obstacle, surroundings } from '../volunteer/support.ts';
import { stateWords } from '../volunteer/tab-texts.ts';
import './widget.css';

const cores = navigator.hardwareConcurrency;
const framed = window.top !== window;
const around = surroundings();
/** Isolation is the embedding page's to give; everything else is this browser's. */
const needsWindow = framed && around.secure && !around.isolated;
const inTheWay = needsWindow ? undefined : obstacle(around);
/** Half of the processor: a visitor came for the site, not for this. */
const SLOTS = Math.max(1, Math.floor(defaultSlots(cores) / 2));
const choice = choose(location.search, { slots: String(SLOTS) }, cores, () => freshName(Math.random));

export function WidgetPage() {
  const { snapshot, rates } = useSyncExternalStore(session.subscribe, session.current);
  const [asked, setAsked] = useState(false);
  const [paused, setPaused] = useState(false);
  const { phase } = snapshot;
  const on = phase !== 'off' && phase !== 'refused';
  const now = useNow(1000, snapshot.silentSince !== undefined);
  const words = stateWords(snapshot, rates, now);
  const wishes = (pausedUntil: number | undefined) => ({
    onlyCharging: false,
    onlyVisible: false,
    easeOff: choice.easeOff,
    pausedUntil,
  });
  const agree = () => {
    setAsked(false);
    setPaused(false);
    void session.start({ ...choice, slots: SLOTS, wishes: wishes(undefined) });
  };
  const pause = (yes: boolean) => {
    setPaused(yes);
    session.setWishes(wishes(yes ? Infinity : undefined));
  };
  return (
    <div className="widget">
      <title>Volunteer – Mayfly</title>
      <h1>Lend this tab to {choice.room ? `room ${choice.room}` : 'Mayfly'}</h1>
      {inTheWay ? (
        <p className="muted">
          This tab cannot compute here: {inTheWay.title.toLowerCase()}. {inTheWay.why}
        </p>
      ) : needsWindow ? (
        <>
          <p className="muted">
            This site cannot compute inside its own pages. Mayfly can compute in a small separate window while it is
            open.
          </p>
          <a className="button primary" href={location.href} target="_blank" rel="noreferrer" onClick={openSmall}>
            Open a small window
          </a>
        </>
      ) : !on && !asked ? (
        <>
          <p className="muted">
            If you agree, scientists’ programs use this machine’s processor while this page is open. Nothing runs before
            you agree.
          </p>
          {phase === 'refused' && <p className="wrong">{words.detail}</p>}
          <button className="button primary" onClick={() => setAsked(true)}>
            Help with this tab…
          </button>
        </>
      ) : !on ? (
        <div role="group" aria-label="Do you agree?">
          <p>
            Up to {SLOTS === 1 ? 'one core' : `${SLOTS} cores`} of {cores || 'this machine'} and a few hundred megabytes
            of memory, and electricity. Programs have no access to your files, accounts or this site. You can pause or
            leave at any time.
          </p>
          <div className="row">
            <button className="button primary" onClick={agree}>
              I agree, compute
            </button>
            <button className="button" onClick={() => setAsked(false)}>
              No
            </button>
          </div>
        </div>
      ) : (
        <>
          <div role="status" className={`tone-${words.tone}`}>
            <p className="phase" data-testid="volunteer-state">
              {words.title}
            </p>
            <p className="muted small">{words.detail}</p>
          </div>
          <div className="row">
            <button className="button" onClick={() => pause(!paused)} disabled={phase === 'leaving'}>
              {paused ? 'Resume' : 'Pause'}
            </button>
            <button className="button" onClick={() => void session.stop()}>
              {phase === 'leaving' ? 'Leave now' : 'Leave'}
            </button>
          </div>
        </>
      )}
      <p className="small muted foot">
        <a
          href={`/volunteer${choice.room ? `?room=${encodeURIComponent(choice.room)}` : ''}`}
          target="_blank"
          rel="noreferrer"
        >
          Mayfly at {location.host}
        </a>
      </p>
    </div>
  );
}

/** A window without bars where the browser makes one, else the link's own tab. */
function openSmall(e: { preventDefault(): void }): void {
  // It is cut off from its opener (COOP), so what comes back says nothing.
  e.preventDefault();
  window.open(location.href, '_blank', 'popup,width=400,height=420,noopener');
}
