import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** A folder for pictures of each page, to look at while working. */
const SHOTS = process.env['VITTO_SHOTS'];

/** How pages are looked at: both widths, both themes, both languages. */
export const LOOKS = [
  { name: 'desktop-light', width: 1280, height: 1000, dark: false, language: 'en' },
  { name: 'desktop-dark', width: 1280, height: 1000, dark: true, language: 'es' },
  { name: 'phone-dark', width: 390, height: 844, dark: true, language: 'en' },
  { name: 'phone-light', width: 390, height: 844, dark: false, language: 'es' },
] as const;

/** Fails when axe finds something in the page's content, or when the page is wider than the screen. */
export async function checkLooks(page: Page, name: string): Promise<void> {
  // What fades in has no contrast yet.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        ({ playState, effect }) => playState !== 'running' || effect?.getTiming().iterations === Infinity,
      ),
  );
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png` });
  expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
  const { violations } = await new AxeBuilder({ page }).include('#content').analyze();
  expect(
    violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`),
    name,
  ).toEqual([]);
}
