/** The volunteer's own name on the board of the room, and the board. */
import { boardText, BOARD_NAME_CHARS } from '@mayfly/wire';
import { FieldError, Input, Label, TextField } from 'react-aria-components';
import { Board } from '../shared/Board.tsx';
import type { Choices } from './choices.ts';

/** Under which name the board counts what this tab gives; undefined: under none. */
export function whoIs(c: Choices): { name: string; team?: string } | undefined {
  const name = boardText(c.boardName);
  const team = boardText(c.team);
  return name === undefined ? undefined : { name, ...(team === undefined ? {} : { team }) };
}

const WRONG = "Use letters, digits, spaces and . _ ' - only; start with a letter or a digit.";

export function BoardFields({
  choice,
  on,
  change,
}: {
  choice: Choices;
  on: boolean;
  change: (part: Partial<Choices>) => void;
}) {
  const wrong = (text: string) => text !== '' && boardText(text) === undefined;
  return (
    <div className="pair">
      <TextField
        className="field"
        value={choice.boardName}
        onChange={(boardName) => change({ boardName })}
        isDisabled={on}
        isInvalid={wrong(choice.boardName)}
        maxLength={BOARD_NAME_CHARS}
        autoComplete="nickname"
      >
        <Label>Your name on the board</Label>
        <Input placeholder="optional; others see it" />
        <FieldError className="field-error">{WRONG}</FieldError>
      </TextField>
      <TextField
        className="field"
        value={choice.team}
        onChange={(team) => change({ team })}
        isDisabled={on}
        isInvalid={wrong(choice.team)}
        maxLength={BOARD_NAME_CHARS}
        autoComplete="off"
      >
        <Label>Team</Label>
        <Input placeholder="if you have one" />
        <FieldError className="field-error">{WRONG}</FieldError>
      </TextField>
    </div>
  );
}

export function RoomBoard({
  room,
  who,
  on,
}: {
  room: string;
  who: { name: string; team?: string } | undefined;
  on: boolean;
}) {
  return (
    <section className="card" aria-label="Board">
      <Board room={room} who={who} live={on} title={<h2>{room ? `Board of room ${room}` : 'Board'}</h2>} />
    </section>
  );
}
