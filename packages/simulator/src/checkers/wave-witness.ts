/** What hosts report to the kit of coordinated checkpointing besides what every kit hears. */
import type { ImageId } from '@mayfly/wire';

export interface WaveWitness {
  /** A life of the server's process begins. */
  serverBegins(): void;
  /** The Checkpoint Server hears that a wave (of this cluster, if there are some) begins, or that it is over. */
  begins(wave: number, cluster: number): void;
  ends(wave: number, cluster: number): void;
  /** The dispatcher hears that all ranks (of these clusters) go back, and that everybody (of this one) has. */
  rollsBack(epoch: number, clusters?: readonly number[]): void;
  goesOn(cluster?: number): void;
  /** A Channel Memory has a core that begins at this epoch's line. */
  wentBack(cm: number, epoch: number): void;
  /** A rank takes an image now. `held`: arrivals that it has consumed without their bodies. */
  imageTaken(task: number, incarnation: number, image: ImageId, held: readonly number[]): void;
  /** A node gets the rank, with this image of it. */
  assigned(task: number, incarnation: number, image: string | undefined): void;
  /** A rank writes these frames into its ring; these leave its node for a Channel Memory. */
  writes(task: number, bytes: Uint8Array): void;
  leaves(bytes: Uint8Array): void;
  /** Now and then: so many messages are held back at a Channel Memory. */
  holdsBack(cm: number, messages: number): void;
}
