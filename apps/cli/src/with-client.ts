/** A client of the server that the options name, for one piece of work. */
import { Client } from './client.ts';
import { needConnection, type ConnectionOptions } from './connection.ts';

export async function withClient<T>(options: ConnectionOptions, work: (c: Client) => Promise<T>): Promise<T> {
  const client = new Client(await needConnection(options));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
