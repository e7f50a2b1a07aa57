/** Every V-protocol by its name. Nothing else names them all, but manifests.ts. */
import type { ProtocolName } from '@mayfly/wire';
import { app } from './app/index.ts';
import type { VProtocol } from './contract/index.ts';
import { pcl, vcl } from './coordinated/index.ts';
import { hc3i } from './hc3i/index.ts';
import { none } from './none/index.ts';
import { pessimistic } from './pessimistic/index.ts';

export const protocols: Readonly<Record<ProtocolName, VProtocol>> = { pessimistic, vcl, pcl, hc3i, app, none };
