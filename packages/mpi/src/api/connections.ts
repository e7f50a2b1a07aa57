/** Communicators of groups that share none yet: from a group and a text, over ports, by names of services. */
import * as comms from '../comm.ts';
import * as intercomms from '../intercomm.ts';
import * as ports from '../ports.ts';
import * as spawns from '../spawn.ts';
import * as requests from '../requests.ts';
import { GroupObject } from './group.ts';
import type { Context } from './context.ts';
import type * as Mayfly from '../../types/mayfly.d.ts';

type Connections = Pick<
  typeof Mayfly,
  | 'createFromGroup'
  | 'createIntercommFromGroups'
  | 'getParent'
  | 'openPort'
  | 'closePort'
  | 'publishName'
  | 'unpublishName'
  | 'lookupName'
>;

/** A spawned process, before its program begins: meets its parents. */
export function meetParents(context: Context): void {
  const { layer } = context;
  const request = spawns.meetParents(layer);
  if (request === undefined) return;
  context.call(() => {
    const o = requests.wait(layer, request);
    if (o.error) throw context.failed(o.error, o.comm);
    spawns.setParent(layer, o.result);
  });
}

export function connections(context: Context): Connections {
  const { layer } = context;
  return {
    createFromGroup: (group, tag) =>
      context.call(() => {
        const call = 'MPI_Comm_create_from_group';
        const o = requests.wait(
          layer,
          comms.createFromGroup(layer, GroupObject.of(group, call).tasks(call), String(tag), call),
        );
        if (o.error) throw context.failed(o.error, o.comm);
        return context.commObject(o.result);
      }),
    createIntercommFromGroups: (localGroup, localLeader, remoteGroup, remoteLeader, tag) =>
      context.call(() => {
        const call = 'MPI_Intercomm_create_from_groups';
        const o = requests.wait(
          layer,
          intercomms.createFromGroups(
            layer,
            GroupObject.of(localGroup, call).tasks(call),
            localLeader,
            () => GroupObject.of(remoteGroup, call).tasks(call),
            remoteLeader,
            String(tag),
          ),
        );
        if (o.error) throw context.failed(o.error, o.comm);
        return context.commObject(o.result) as unknown as Mayfly.Intercomm;
      }),
    getParent: () =>
      context.call(() => {
        const handle = spawns.parentOf(layer);
        return handle === 0 ? null : (context.commObject(handle) as unknown as Mayfly.Intercomm);
      }),
    openPort: () => context.call(() => ports.open(layer)),
    closePort: (port) => context.call(() => ports.close(layer, String(port))),
    publishName: (service, port) => context.call(() => ports.publish(layer, String(service), String(port))),
    unpublishName: (service, port) => context.call(() => ports.unpublish(layer, String(service), String(port))),
    lookupName: (service) => context.call(() => ports.lookup(layer, String(service))),
  };
}
