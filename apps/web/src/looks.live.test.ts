import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, openEverything, startVisit, type Visit } from './testing/browser.ts';
import { ARTIFACT, CONVERSATION, type FakeVitto } from './testing/fake-vitto.ts';
import {
  tellAskingTask,
  tellFailedTask,
  tellFinishedTask,
  tellQuestion,
  tellRunningTask,
} from './testing/sample-thread.ts';

let browser: Browser;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const CHAT = `/vitto/c/${CONVERSATION}`;
const LONG_FOLDER = `/home/ana/work/${'a-rather-long-name-'.repeat(4)}/service`;
const DEMO_REFUSAL = {
  code: 'demo.package-unavailable',
  title: 'The demo needs the package p-limit 7.1.0, and npm did not give it (ENOTFOUND).',
  hint: 'Check the network and the registry (`npm ping`), then start the demo again.',
};

async function addFolder(page: Page, path: string): Promise<void> {
  await page.getByRole('button', { name: /^Folders that I may read/ }).click();
  await page.getByLabel('A folder on the machine where Vitto runs').fill(path);
  await page.keyboard.press('Enter');
  await page.getByText(path).first().waitFor();
}

/** Each state that the page can be in, how it comes about and where. */
const STATES: {
  name: string;
  path: string;
  prepare: (fake: FakeVitto) => void;
  shows: string;
  /** What a person does then. */
  act?: (page: Page) => Promise<void>;
}[] = [
  { name: 'empty', path: '/vitto', prepare: () => {}, shows: 'What can I do for you?' },
  {
    name: 'no model',
    path: '/vitto',
    prepare: (fake) => (fake.models = []),
    shows: 'I have no language model yet',
  },
  {
    name: 'demo under way',
    path: '/vitto',
    prepare: (fake) => {
      fake.models = [];
      fake.onDemo = () => new Promise(() => {});
    },
    shows: 'Watch the demo',
    act: async (page) => {
      await page.getByRole('button', { name: 'Watch the demo' }).click();
      await page.getByText('Preparing the demo…').waitFor();
    },
  },
  {
    name: 'demo refused',
    path: '/vitto',
    prepare: (fake) => {
      fake.models = [];
      fake.faults.set('POST /api/demo', { status: 503, body: DEMO_REFUSAL });
    },
    shows: 'Watch the demo',
    act: async (page) => {
      await page.getByRole('button', { name: 'Watch the demo' }).click();
      await page.getByText('npm ping').waitFor();
    },
  },
  {
    name: 'folders of a new conversation',
    path: '/vitto',
    prepare: (fake) => (fake.sharedPaths = ['/srv/notes']),
    shows: 'What can I do for you?',
    act: (page) => addFolder(page, LONG_FOLDER),
  },
  {
    name: 'folders while a task runs',
    path: CHAT,
    prepare: (fake) => {
      tellRunningTask(fake);
      fake.title = 'Mend the-library-with-a-rather-long-name-that-fits-no-rail';
      fake.allowedPaths = ['/srv/shop', '/srv/old/app', '/srv/new/app', '/home/ana/\u202egnp.exe'];
      fake.missingFolders.add(LONG_FOLDER);
    },
    shows: 'Now run the tests.',
    act: (page) => addFolder(page, LONG_FOLDER),
  },
  {
    name: 'signed out',
    path: '/vitto',
    prepare: (fake) => (fake.isSignedIn = false),
    shows: 'You need a sign-in link.',
  },
  { name: 'finished', path: CHAT, prepare: tellFinishedTask, shows: 'What to know' },
  {
    name: 'running',
    path: CHAT,
    prepare: (fake) => (tellFinishedTask(fake), tellRunningTask(fake)),
    shows: 'Now run the tests.',
  },
  {
    name: 'a file beside it',
    path: `${CHAT}?artifact=${ARTIFACT}`,
    prepare: (fake) => {
      tellFinishedTask(fake);
      const diff = '--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-const old = 1;\n+const now = 2;\n';
      fake.artifacts.add('fix.patch', 'text/x-diff', diff, ARTIFACT);
    },
    shows: '1 line added, 1 removed',
  },
  {
    name: 'an edit with files',
    path: CHAT,
    prepare: tellFinishedTask,
    shows: 'What to know',
    act: async (page) => {
      await page.locator('input[data-attach]').setInputFiles([
        { name: `${'a-long-name-'.repeat(12)}.txt`, mimeType: 'text/plain', buffer: Buffer.from('x') },
        { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
      ]);
      await page.getByText('The file is empty').waitFor();
      await page.getByRole('region', { name: 'Conversation' }).evaluate((element) => (element.scrollTop = 0));
      await page.getByRole('button', { name: 'Edit and send again' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('You are editing an earlier message.').waitFor();
    },
  },
  { name: 'asking', path: CHAT, prepare: tellAskingTask, shows: 'I need your approval' },
  { name: 'question', path: CHAT, prepare: tellQuestion, shows: 'To which name?' },
  { name: 'failed', path: CHAT, prepare: tellFailedTask, shows: 'model.unavailable' },
];

async function check(visit: Visit): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page: visit.page }).analyze();
  return violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.html} ${node.failureSummary ?? ''}`),
  );
}

/** What can be used and stands beyond the edge of the screen or of the rail, outside of what scrolls by itself. */
function findOverflow(visit: Visit): Promise<string[]> {
  return visit.page.evaluate(() =>
    [...document.querySelectorAll('button, a, input, textarea, main, article')]
      .filter(
        (element) => element.checkVisibility() && element.closest('pre, dd, .table-frame, .sr-only') === null,
      )
      .filter((element) => {
        const box = element.getBoundingClientRect();
        const edge = element.closest('nav')?.getBoundingClientRect().right ?? window.innerWidth;
        return box.width > 1 && (box.right > edge + 1 || box.left < -1);
      })
      .map((element) => element.outerHTML.slice(0, 200)),
  );
}

const opened = ['finished', 'running'];

describe('every state of the page', () => {
  for (const width of [390, 1280]) {
    for (const dark of [false, true]) {
      it(`is accessible and fits ${width} px in ${dark ? 'dark' : 'light'}`, async () => {
        for (const state of STATES) {
          const visit = await startVisit(browser, { width, dark });
          state.prepare(visit.fake);
          await visit.page.goto(visit.origin + state.path);
          await visit.page.getByText(state.shows).first().waitFor();
          await state.act?.(visit.page);
          if (opened.includes(state.name)) await openEverything(visit.page);
          // Appearing is an animation of a tenth of a second: contrast is measured at its end.
          await visit.page.evaluate(() =>
            Promise.all(
              document
                .getAnimations()
                .filter((animation) => animation.effect?.getComputedTiming().iterations === 1)
                // One that is taken away before its end is cancelled.
                .map((animation) => animation.finished.catch(() => undefined)),
            ),
          );
          expect(await check(visit), state.name).toEqual([]);
          expect(await findOverflow(visit), `${state.name} is wider than the screen`).toEqual([]);
          expect(visit.errors, state.name).toEqual([]);
          await visit.end();
        }
      });
    }
  }

  it('opens the conversations on a phone, closes them with Escape, and can be used by keyboard alone', async () => {
    const visit = await startVisit(browser, { width: 390 });
    visit.fake.conversationCount = 95;
    await visit.page.goto(`${visit.origin}/vitto`);
    await visit.page.getByRole('button', { name: 'Conversations' }).focus();
    await visit.page.keyboard.press('Enter');
    const drawer = visit.page.getByRole('dialog', { name: 'Conversations' });
    await drawer.getByText('A conversation').waitFor();
    expect(await check(visit)).toEqual([]);
    await drawer.getByRole('button', { name: 'Show more' }).click();
    await drawer.getByText('Older conversation 60', { exact: true }).waitFor();
    await visit.page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(await visit.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Conversations',
    );
    await visit.end();
  });
});
