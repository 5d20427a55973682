import pg from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from '../../testing/real-vitto.ts';

const LONG = { timeout: 90_000 };
const SCRIPT = `
conversations:
  - on: /count slowly/
    turns:
      - text: I count.
        calls:
          - tool: run_command
            arguments: { command: "for i in 1 2 3 4 5 6 7 8 9 10; do echo n$i; sleep 1; done" }
      - text: I have counted.
  - on: /show colours/
    turns:
      - calls:
          - tool: run_command
            arguments:
              command: >-
                printf '\\033[31mred\\033[0m \\033]8;;javascript:alert(1)\\033\\\\click\\033]8;;\\007 \\033]0;title\\007 \\033]52;c;ZXZpbA==\\007 end\\n';
                i=0; while [ $i -lt 5000 ]; do i=$((i+1)); printf '\\r%s of 5000' $i; done
      - text: Those are they.
  - on: /wider/
    turns: [{ text: It is three metres wide. }]
  - on: /how old/
    turns: [{ text: It is ten years old. }]
  - turns: [{ text: I have read it. }]
`;

let browser: Browser;
let vitto: RealVitto;
let page: Page;
let context: BrowserContext;
let errors: string[];
let strangers: string[];
beforeAll(async () => {
  await buildWebApp();
  vitto = await startRealVitto();
  browser = await launchBrowser();
  const model = await vitto.writeScript('chat', SCRIPT);
  await vitto.call('PATCH', '/api/settings', { models: { main: model } });
  ({ page, context, errors, strangers } = await openPage(browser, vitto));
});
afterAll(async () => {
  await browser?.close();
  await vitto?.end();
});
beforeEach(async () => {
  await page.goto(`${vitto.url}/vitto`);
});

const composer = () => page.getByRole('textbox', { name: 'Message to Vitto' });
const thread = () => page.getByRole('region', { name: 'Conversation', exact: true });
const say = async (text: string) => {
  await composer().fill(text);
  await composer().press('Enter');
};
/** What the thread says, without what depends on when it is looked at. */
const told = async () =>
  (await thread().locator('li[data-key]').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());

describe('the chat with the real server', () => {
  it('shows neither a gap nor a repeat after the server died in the middle of a call', async () => {
    await say('count slowly');
    await thread().getByText('n2', { exact: true }).waitFor(LONG);
    await vitto.kill();
    await page.getByText('Connection lost.').waitFor(LONG);
    await vitto.start();
    await thread().getByText('I have counted.').waitFor(LONG);
    await thread().getByText('Done', { exact: true }).waitFor(LONG);
    const live = await told();
    await page.reload();
    await thread().getByText('I have counted.').waitFor(LONG);
    await expect.poll(told).toEqual(live);
    expect(live.filter((text) => text.includes('Run'))).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('shows what a terminal wrote: colours, no link to a script, the last state of a progress bar', async () => {
    await say('show colours');
    await thread().getByText('Those are they.').waitFor(LONG);
    await thread().getByRole('button', { name: /Run/ }).click();
    const result = thread().getByRole('group', { name: 'Result' });
    expect(await result.innerText()).toMatch(/red click\s+end\n.*5000 of 5000/);
    expect(await result.locator('a').count()).toBe(0);
    expect(await page.title()).not.toContain('title');
  });

  it('edits a message: the new one counts, the old one is folded, and the journal keeps it', async () => {
    await say('how old is it?');
    await thread().getByText('It is ten years old.').waitFor(LONG);
    await page.getByRole('button', { name: 'Edit and send again' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).count(), LONG).toBe(0);
    await page.getByRole('button', { name: 'Edit and send again' }).click();
    await say('is it wider?');
    await thread().getByText('It is three metres wide.').waitFor(LONG);
    expect(await thread().getByText('It is ten years old.').count()).toBe(0);
    await page.reload();
    await thread().getByText('It is three metres wide.').waitFor(LONG);
    await thread().getByRole('button', { name: 'Earlier version' }).click();
    await thread().getByText('It is ten years old.').waitFor();
  });

  it('takes a file with a message, shows it, finds the message again and leads to it', async () => {
    const name = '<img src=x onerror=window.__x=1>.csv';
    await page.locator('input[data-attach]').setInputFiles({
      name,
      mimeType: 'text/csv',
      buffer: Buffer.from('name,size\nalpha,1\n'),
    });
    await page.getByRole('button', { name: /^Remove / }).waitFor(LONG);
    await say('please look at the quokka table');
    await thread().getByText('I have read it.').waitFor(LONG);
    await thread()
      .getByRole('button', { name: /^Open / })
      .click();
    await page.getByRole('complementary').getByRole('cell', { name: 'alpha' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => (window as { __x?: number }).__x)).toBeUndefined();
    expect(strangers).toEqual([]);

    await page.goto(`${vitto.url}/vitto`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('quokka');
    const hit = page.getByRole('link', { name: /quokka table/ }).last();
    await hit.click();
    await page.waitForURL(/\/vitto\/c\//);
    await thread().getByText('please look at the quokka table').waitFor();
  });

  it('loses nothing that is typed when the session ends meanwhile', async () => {
    await say('hello there');
    await thread().getByText('I have read it.').waitFor(LONG);
    await composer().pressSequentially('half of a long th');
    const database = new pg.Client({ connectionString: vitto.databaseUrl });
    await database.connect();
    await database.query('delete from vitto_sessions');
    await database.end();
    await composer().pressSequentially('ought');
    await composer().press('Enter');
    await page.getByText('Your session has ended.').first().waitFor(LONG);
    expect(await composer().inputValue()).toBe('half of a long thought');
    const other = await context.newPage();
    const { body } = await vitto.call<{ code: string }>('POST', '/api/sign-in-codes', {});
    await other.goto(`${vitto.url}/sign-in#code=${body.code}`);
    await other.waitForURL(`${vitto.url}/vitto`);
    await page.getByRole('button', { name: 'I have signed in' }).waitFor({ state: 'detached' });
    await composer().press('Enter');
    await expect.poll(() => composer().inputValue(), LONG).toBe('');
    await thread().getByText('half of a long thought').waitFor(LONG);
    await other.close();
  });
});
