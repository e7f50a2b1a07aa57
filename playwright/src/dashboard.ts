/** The dashboard under a person's hands: opened with the token, a program written into the form. */
import type { Page } from '@playwright/test';
import type { Served } from './server.ts';

export const openDashboard = async (page: Page, server: Served, path = ''): Promise<void> => {
  await page.goto(`${server.url}/dashboard${path}${path.includes('?') ? '&' : '?'}token=${server.token}`);
};
export const headline = (page: Page) => page.locator('.job-head [role=status]');

export async function write(page: Page, name: string, text: string, ranks: number): Promise<void> {
  await page.getByRole('button', { name: /Your own program/ }).click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('textbox', { name: 'Ranks' }).fill(String(ranks));
  await page.keyboard.press('Tab');
}
