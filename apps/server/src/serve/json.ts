/**
 * JSON of requests and of socket.io, parsed only within limits (packages/wire/src/json.ts says why); and bodies that
 * are packed, which nobody here unpacks.
 */
import type { FastifyInstance } from 'fastify';
import { Decoder, PacketType } from 'socket.io-parser';
import { MayflyError, REQUEST_JSON, jsonExcess } from '@mayfly/wire';

/** @throws MayflyError TOO_LARGE */
function check(text: string): void {
  const excess = jsonExcess(text, REQUEST_JSON);
  if (excess !== undefined) throw new MayflyError('TOO_LARGE', `Cannot parse the JSON: ${excess}.`);
}

export function takeJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    try {
      check(body as string);
    } catch (error) {
      return done(error as Error);
    }
    return parse(request, body as string, done);
  });
  app.addHook('onRequest', async (request) => {
    const packed = request.headers['content-encoding'];
    if (packed !== undefined && packed !== 'identity')
      throw new MayflyError(
        'BAD_REQUEST',
        'This server does not accept compressed bodies (Content-Encoding). Send the body uncompressed.',
      );
  });
}

/** What waits for its attachment: of valid messages the numbers of some pages. */
const WAITING_CHARACTERS = 64 * 1024;

/**
 * As socket.io's own: what it throws closes the connection. A packet waits here until its attachments have come, so it
 * is short and has one, as all of ours.
 */
export class LimitedDecoder extends Decoder {
  constructor() {
    super({ maxAttachments: 1 });
  }

  override add(packet: string | Buffer): void {
    if (typeof packet === 'string') {
      check(packet);
      const waits = packet.startsWith(`${PacketType.BINARY_EVENT}`) || packet.startsWith(`${PacketType.BINARY_ACK}`);
      if (waits && packet.length > WAITING_CHARACTERS)
        throw new MayflyError('TOO_LARGE', 'The message before an attachment is too long.');
    }
    super.add(packet);
  }
}
