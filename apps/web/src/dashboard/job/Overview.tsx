/** The first look at a job: its ranks, what it prints and draws, what it asks for. */
import { useState } from 'react';
import { hasEnded } from '../status-texts.ts';
import { Files } from './Files.tsx';
import { Output } from './Output.tsx';
import { ParityLine } from './ParityLine.tsx';
import { firstPicture } from './result.ts';
import { Ranks } from './Ranks.tsx';
import { MOST_RANKS, Stage } from './stage/Stage.tsx';
import { Stdin } from './Stdin.tsx';
import { WavesLine } from './waves/Waves.tsx';
import type { ViewProps } from './view-props.ts';

export function Overview(props: ViewProps) {
  const { job } = props;
  const [begun] = useState(!hasEnded(job.state));
  // A job that runs has the place of its files before there are any.
  const files = !hasEnded(job.state) || job.outputs.length > 0;
  return (
    <>
      {begun && job.tasks.length > 0 && job.size <= MOST_RANKS && <Stage key={job.id} job={job} />}
      <Ranks job={job} />
      <WavesLine job={job} />
      <ParityLine job={job} />
      <div className={files ? 'results both' : 'results'}>
        <div className="stack">
          <Output {...props} />
          <Stdin job={job} />
        </div>
        {files && <Files {...props} shown={firstPicture(job, props.files)?.path} />}
      </div>
    </>
  );
}
