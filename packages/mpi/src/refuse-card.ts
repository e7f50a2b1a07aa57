/** The answer to a card for a port that is not open (ports.ts). */
import { taskId } from '@mayfly/wire';
import { refusal } from './cards.ts';
import { ANSWERS, Mode } from './constants.ts';
import { ERR } from './errors.ts';
import type { Layer } from './layer.ts';

export function refuse(layer: Layer, task: number, port: number): void {
  layer.device.send(taskId(task), Mode.STANDARD, ANSWERS, port, 0, refusal(layer, ERR.PORT));
}
