/** What programs that lose processes have: ULFM's calls of a communicator object, FT-MPI's recovery (../failure). */
import { ERR } from '../errors.ts';
import * as failures from '../failure/index.ts';
import * as requests from '../requests.ts';
import { contextOf } from './held.ts';
import type { Context } from './context.ts';
import { GroupObject } from './group.ts';
import { PointToPoint } from './point-to-point.ts';
import { CommRequestObject } from './status.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

/** [MPIX_Comm_recover] Also before the program of a replacement begins. */
export function recover({ layer }: Context, call: string): void {
  const request = failures.startRecovery(layer, call);
  if (request !== undefined) requests.wait(layer, request);
}

export const ftModule = (context: Context): typeof Mayfly.ft => ({
  restarted: context.layer.device.ft?.restarted === true,
  get failed() {
    return [...(context.layer.state.failures?.failedRanks ?? [])];
  },
  recover: () => context.local(() => recover(context, 'MPIX_Comm_recover')),
});

export class FailureCalls extends PointToPoint {
  revoke(): void {
    contextOf(this).call(() => failures.revoke(contextOf(this).layer, this.handle));
  }
  get isRevoked(): boolean {
    return contextOf(this).call(() => failures.isRevoked(contextOf(this).layer, this.handle));
  }
  shrink(): Mayfly.Comm {
    return contextOf(this).call(() => {
      const { result } = this.finish(failures.shrink(contextOf(this).layer, this.handle));
      return contextOf(this).commObject(result);
    });
  }
  ishrink(): Mayfly.CommRequest {
    return contextOf(this).call(() => {
      const request = failures.shrink(contextOf(this).layer, this.handle, 'MPIX_Comm_ishrink');
      return new CommRequestObject(contextOf(this), request, () => undefined);
    });
  }
  agree(flag: number): Mayfly.Agreement {
    return contextOf(this).call(() => {
      const { layer } = contextOf(this);
      const { agreed, error, comm } = requests.wait(layer, failures.agree(layer, this.handle, flag));
      if (error && error.errorClass !== ERR.PROC_FAILED) throw contextOf(this).failed(error, comm);
      return { flag: agreed!.flag, failed: error !== undefined };
    });
  }
  failureAck(): void {
    contextOf(this).call(() => failures.failureAck(contextOf(this).layer, this.handle));
  }
  ackFailed(most: number): number {
    return contextOf(this).call(() => failures.ackFailed(contextOf(this).layer, this.handle, most));
  }
  get failed(): Mayfly.Group {
    return this.tasks(failures.getFailed);
  }
  get acknowledged(): Mayfly.Group {
    return this.tasks(failures.getAcked);
  }
  private tasks(of: typeof failures.getFailed): Mayfly.Group {
    return contextOf(this).call(() => GroupObject.make(contextOf(this), of(contextOf(this).layer, this.handle)));
  }
}
