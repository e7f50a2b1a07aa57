/** What happens to images of ranks, for the time line, and for those that are made again from parity. */
import type { Chronicle } from '../chronicle.ts';
import type { CsListener } from '../hosts/checkpoint-server-host.ts';
import type { ParityHost } from '../hosts/parity-host.ts';
import type { OpenJobs } from './open-jobs.ts';

export interface ImageNewsParts {
  readonly chronicle: Chronicle;
  parity(): ParityHost;
  jobs(): OpenJobs;
}

export const imageNews = ({ chronicle, parity, jobs }: ImageNewsParts): CsListener => ({
  begun: (job, task) => chronicle.image(job, task, 'imageBegun'),
  complete: (job, task) => {
    jobs().noteImages(job, task);
    chronicle.image(job, task, 'image');
  },
  rebuild: (manifest) =>
    void parity()
      .rebuild(manifest)
      .then((decoded) => decoded && chronicle.rebuilt(manifest)),
  fellBack: (job, task, reason) => {
    parity().fellBack(job, reason);
    chronicle.fellBack(job, task, reason);
  },
});
