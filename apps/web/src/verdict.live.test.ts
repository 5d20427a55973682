import type { Outcome, Task } from '@vitto/contracts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from './testing/browser.ts';
import { checkLooks, LOOKS } from './testing/check-looks.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

// A person's word on a task, with the real product: its process, its database, its pages.

let browser: Browser;
let vitto: RealVitto;
beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
  vitto = await startRealVitto();
});
afterAll(async () => {
  await browser?.close();
  await vitto?.end();
});

const WAIT = { timeout: 30_000, interval: 100 };

async function startTask(prompt: string, script: string): Promise<string> {
  const model = await vitto.writeScript(prompt.replaceAll(/\W/gu, ''), script);
  return (await vitto.call<Task>('POST', '/api/tasks', { prompt, model })).body.id;
}

async function waitForState(id: string, state: Task['state']): Promise<void> {
  const read = () => vitto.call<Task>('GET', `/api/tasks/${id}`);
  await vi.waitFor(async () => expect((await read()).body.state).toBe(state), WAIT);
}

async function readOutcome(id: string): Promise<Outcome | undefined> {
  const { body } = await vitto.call<{ items: Outcome[] }>('GET', `/api/outcomes?taskId=${id}`);
  return body.items[0];
}

const says = (page: Page, words: string) => page.locator('#content').getByText(words).waitFor();

describe('the page of a task', () => {
  it('says what a task says of itself, also when the process died right after its end', async () => {
    const done = await startTask('Say hello', 'turns: [{ text: Hello. }]');
    await waitForState(done, 'completed');
    await vitto.kill();
    await vitto.start();
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/t/${done}`);
    await says(page, 'Counts as right · it says so itself');
    expect(await readOutcome(done)).toMatchObject({ success: true, verdictSource: 'self', end: 'completed' });
    expect(errors).toEqual([]);
    await context.close();
  });

  it('says it of its own accord to whoever watches the end', async () => {
    const { page, context, errors } = await openPage(browser, vitto);
    const id = await startTask(
      'Ask me first',
      'turns: [{ calls: [{ tool: ask_user, arguments: { question: Which? } }] }, { text: Thank you. }]',
    );
    await waitForState(id, 'waiting_input');
    await page.goto(`${vitto.url}/vitto/t/${id}`);
    await page.getByText('Waited for an answer').first().waitFor();
    await vitto.call('POST', `/api/tasks/${id}/messages`, { text: 'This one.' });
    await says(page, 'Counts as right · it says so itself');
    expect(errors).toEqual([]);
    await context.close();
  });

  it('takes the word of the person by keyboard, keeps it, and lets it be changed', async () => {
    const id = await startTask('Say goodbye', 'turns: [{ text: Goodbye. }]');
    await waitForState(id, 'completed');
    const { page, context, errors, strangers } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/t/${id}`);
    const right = page.getByRole('button', { name: 'This was right' });
    const wrong = page.getByRole('button', { name: 'This was not right' });
    expect(await wrong.getAttribute('aria-pressed')).toBe('false');
    await wrong.focus();
    await page.keyboard.press('Enter');
    await says(page, 'Counts as not right · your word');
    expect(await wrong.getAttribute('aria-pressed')).toBe('true');
    expect(await readOutcome(id)).toMatchObject({ success: false, verdictSource: 'user' });
    await page.reload();
    await says(page, 'Counts as not right · your word');
    await right.click();
    await says(page, 'Counts as right · your word');
    expect(await wrong.getAttribute('aria-pressed')).toBe('false');
    expect([...errors, ...strangers]).toEqual([]);
    await context.close();
  });

  it('does not ask while the task runs, and asks once it was stopped, without taking that for a word on it', async () => {
    const id = await startTask(
      'Wait for me',
      'turns: [{ calls: [{ tool: ask_user, arguments: { question: Which? } }] }]',
    );
    await waitForState(id, 'waiting_input');
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/t/${id}`);
    await page.getByText('Waited for an answer').first().waitFor();
    expect(await page.getByRole('button', { name: 'This was right' }).count()).toBe(0);
    await vitto.call('POST', `/api/tasks/${id}/cancel`, {});
    await page.getByRole('button', { name: 'This was right' }).waitFor();
    await says(page, 'Counts as not right · it was stopped before its end');
    await context.close();
  });

  it('says in words why a word was not kept, and leaves what was before', async () => {
    const id = await startTask('Say please', 'turns: [{ text: Please. }]');
    await waitForState(id, 'completed');
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/t/${id}`);
    await page.getByRole('button', { name: 'This was right' }).click();
    await says(page, 'Counts as right · your word');
    await page.route('**/verdict', (route) => route.abort());
    await page.getByRole('button', { name: 'This was not right' }).click();
    await page.getByRole('alert').getByText('Your word was not kept.').waitFor();
    await says(page, 'Counts as right · your word');
    await checkLooks(page, 'verdict-refused');
    await page.unroute('**/verdict');
    await page.getByRole('button', { name: 'This was not right' }).click();
    await says(page, 'Counts as not right · your word');
    expect(await page.getByRole('alert').count()).toBe(0);
    await context.close();
  });

  it.each(LOOKS)('is sound on $name', async (look) => {
    const id = await startTask(`Look ${look.name}`, 'turns: [{ text: Seen. }]');
    await waitForState(id, 'completed');
    await vitto.call('PUT', `/api/tasks/${id}/verdict`, { success: false });
    const { page, context, errors } = await openPage(browser, vitto, look);
    await page.addInitScript((language) => localStorage.setItem('vitto.language', language), look.language);
    await page.goto(`${vitto.url}/vitto/t/${id}`);
    await says(page, look.language === 'en' ? 'your word' : 'Cuenta como mal hecha · lo dices tú');
    await checkLooks(page, `verdict-${look.name}`);
    expect(errors).toEqual([]);
    await context.close();
  });
});
