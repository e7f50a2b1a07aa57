/**
 * A line for rank 0, where the program waits for one. Below what it prints; once there it stays, so that nothing moves.
 */
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { sendStdin } from '../api.ts';
import { useMayChange } from '../context.tsx';
import { Problem } from '../Problem.tsx';
import { hasEnded } from '../status-texts.ts';

export function Stdin({ job }: { job: JobView }) {
  const mayChange = useMayChange(job);
  const [line, setLine] = useState('');
  const send = useMutation({
    mutationFn: (end: boolean) => sendStdin(job.id, end ? '' : `${line}\n`, end),
    onSuccess: () => setLine(''),
  });
  const waits =
    job.state === 'running' && job.tasks.some((t) => t.activity?.state === 'waiting' && t.activity.call === 'stdin');
  const asked = useRef(false);
  asked.current ||= waits;
  if (!asked.current) return null;
  if (!mayChange)
    return <p className="muted small">Rank 0 is waiting for a line of standard input from the job’s owner.</p>;
  return (
    <form
      className="card"
      aria-label="Standard input"
      onSubmit={(e) => {
        e.preventDefault();
        send.mutate(false);
      }}
    >
      <TextField className="field" value={line} onChange={setLine} isDisabled={!waits}>
        {/* As high as its longest words. */}
        <Label className="label place-of-two">
          {waits
            ? 'Rank 0 is waiting for a line of standard input'
            : hasEnded(job.state)
              ? 'The job has ended and reads no more input'
              : 'Rank 0 is not waiting for input'}
        </Label>
        <Input className="in mono" autoComplete="off" spellCheck="false" />
      </TextField>
      <div className="row">
        <button className="button small primary" type="submit" disabled={!waits || send.isPending}>
          Send
        </button>
        <button
          className="button small"
          type="button"
          disabled={!waits || send.isPending}
          onClick={() => send.mutate(true)}
        >
          End of input
        </button>
      </div>
      <Problem error={send.error} />
    </form>
  );
}
