/** The first look at a job: its ranks, what it prints and draws, what it asks for. */
import { Files } from './Files.tsx';
import { Output } from './Output.tsx';
import { Ranks } from './Ranks.tsx';
import { Stdin } from './Stdin.tsx';
import type { ViewProps } from './views.tsx';

export function Overview(props: ViewProps) {
  const { job } = props;
  return (
    <>
      <Ranks job={job} />
      <Stdin job={job} />
      <div className={job.outputs.length > 0 ? 'results both' : 'results'}>
        <Output {...props} />
        {job.outputs.length > 0 && <Files {...props} />}
      </div>
    </>
  );
}
