/** What a volunteer may do while the tab is on: pause, snooze for a time, go on, or leave with last images. */
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { VolunteerPhase } from '@mayfly/node/page';

interface Props {
  phase: VolunteerPhase;
  /** Paused by a person, not by a circumstance. */
  paused: boolean;
  onPause: (until: number | undefined) => void;
  onFinish: () => void;
}

const MINUTE = 60_000;
const SNOOZES = [
  { id: '15', text: 'for 15 minutes', ms: 15 * MINUTE },
  { id: '60', text: 'for an hour', ms: 60 * MINUTE },
  { id: '480', text: 'for 8 hours', ms: 480 * MINUTE },
];

export function Controls({ phase, paused, onPause, onFinish }: Props) {
  const on = phase !== 'off' && phase !== 'refused';
  return (
    <div className="controls row" role="group" aria-label="While it is on">
      {paused ? (
        <Button className="button" isDisabled={!on} onPress={() => onPause(undefined)}>
          Resume
        </Button>
      ) : (
        <Button className="button" isDisabled={!on || phase === 'leaving'} onPress={() => onPause(Infinity)}>
          Pause
        </Button>
      )}
      <MenuTrigger>
        <Button className="button" isDisabled={!on || phase === 'leaving'}>
          Snooze…
        </Button>
        <Popover className="menu-box">
          <Menu className="menu" onAction={(id) => onPause(Date.now() + SNOOZES.find((s) => s.id === id)!.ms)}>
            {SNOOZES.map((s) => (
              <MenuItem key={s.id} id={s.id} className="menu-item">
                {s.text}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      <Button className="button" isDisabled={!on || phase === 'leaving' || phase === 'paused'} onPress={onFinish}>
        Finish this step and leave
      </Button>
    </div>
  );
}
