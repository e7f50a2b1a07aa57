/**
 * Lines for rank 0 of a job whose standard input stays open. The form is there before the program asks for a line, so
 * that nothing moves, and goes when the job ends.
 */
import type { JobView } from '@mayfly/wire';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
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
  if (hasEnded(job.state) || !job.interactive) return null;
  if (!mayChange)
    return (
      <p className="muted small">
        {waits
          ? 'Rank 0 is waiting for a line of standard input from the job’s owner.'
          : 'The job’s owner can send lines of standard input to rank 0.'}
      </p>
    );
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
          {waits ? 'Rank 0 is waiting for a line of standard input' : 'Rank 0 is not waiting for input'}
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
