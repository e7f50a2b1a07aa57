/**
 * A server and two volunteers' tabs for all tests of a file. Call it at the top of the file; what it returns is there
 * once tests run. A test that fails shows what the server said meanwhile.
 */
import { test } from '@playwright/test';
import { Client } from './client.ts';
import { ServerProcess } from './server.ts';
import { showLogOnFailure } from './failure.ts';
import { Tab } from './tabs.ts';

export interface Classroom {
  server: ServerProcess;
  client: Client;
}

/** @param slots of each tab */
export function classroom(slots?: number): Classroom {
  const room = {} as Classroom;
  const tabs: Tab[] = [];
  showLogOnFailure(() => room.server);
  test.beforeAll(async ({ browser }) => {
    room.server = await ServerProcess.start();
    room.client = new Client(room.server);
    for (const n of ['a', 'b']) tabs.push(await Tab.open(browser, room.server.url, n, slots));
  });
  test.afterAll(async () => {
    for (const t of tabs) await t.close();
    await room.server?.stop();
  });
  return room;
}
