import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from './testing/browser.ts';
import { ARTIFACT, CONVERSATION } from './testing/fake-vitto.ts';
import { idOf } from './testing/event-maker.ts';

const TASK = idOf(1);
const APPROVAL = idOf(7);
const CHAT = `/vitto/c/${CONVERSATION}`;

let browser: Browser;
let visit: Visit;

beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  visit = await startVisit(browser);
});
afterEach(async () => {
  const { errors, strangers } = visit;
  await visit.end();
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
});

const composer = () => visit.page.getByRole('textbox', { name: 'Message to Vitto' });
const thread = () => visit.page.getByRole('region', { name: 'Conversation', exact: true });
const live = () => visit.page.locator('[data-connection=live]').waitFor({ state: 'attached' });

async function openChat(): Promise<void> {
  await visit.page.goto(visit.origin + CHAT);
  await live();
}

/** A task that has begun and runs a command. */
function beginTask(text = 'clean the build'): void {
  const { fake } = visit;
  fake.emit(fake.make.created(TASK), fake.make.said(TASK, text), fake.make.started(TASK));
}

describe('the chat', () => {
  it('sends the first message, streams the answer, shows a call, asks, runs what was approved, and is done', async () => {
    const { fake, page } = visit;
    fake.conversationCount = 0;
    fake.onMessage = (text) => {
      beginTask(text);
      fake.emit(fake.make.text(TASK, 1, 'I look at the **build** folder'));
    };
    await page.goto(`${visit.origin}/`);
    await composer().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('clean the build');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${CHAT}`);
    await thread().getByText('clean the build').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'A conversation' }).waitFor();
    await thread().locator('strong', { hasText: 'build' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    expect(await composer().inputValue()).toBe('');

    const command = { command: 'rm -rf /srv/build' };
    fake.emit(
      fake.make.turn(TASK, 1, 'I look at the **build** folder.', {
        calls: [{ id: 'c1', tool: 'run_command', input: command }],
      }),
      fake.make.asked(TASK, 'c1', APPROVAL, command),
      fake.make.make(TASK, 'task.parked', {
        state: 'waiting_approval',
        waitingFor: { kind: 'approval', approvalIds: [APPROVAL] },
      }),
    );
    fake.onDecision = () => {
      fake.emit(
        fake.make.make(TASK, 'approval.decided', {
          approvalId: APPROVAL,
          callId: 'c1',
          decision: 'approved',
          by: 'web',
        }),
        fake.make.make(TASK, 'task.resumed', { worker: 'w', fence: 2, reason: 'approval' }),
        fake.make.starting(TASK, 'c1', 'run_command', command),
        fake.make.progress(TASK, 'c1', '\u001b[32mremoved 41 files\u001b[0m\n'),
      );
    };
    const card = page.locator(`[data-approval="${APPROVAL}"]`);
    await card.focus();
    await page.keyboard.press('a');
    await card.getByText('Approved by you').waitFor();
    await thread().getByText('removed 41 files').waitFor();
    const decision = fake.calls.find((call) => call.path.startsWith('/api/approvals/'));
    expect(decision?.body).toEqual({ decision: 'approved', argumentsHash: 'h'.repeat(64) });
    expect(decision?.headers['x-csrf-token']).toBe('csrf-1');

    const artifact = { id: ARTIFACT, name: 'log.txt', mediaType: 'text/plain', bytes: 2048 };
    fake.emit(
      fake.make.called(TASK, 'c1', 'run_command', { text: 'removed 41 files', artifacts: [artifact] }),
      fake.make.turn(TASK, 2, 'The build folder is clean.'),
      fake.make.completed(TASK, 'The build folder is clean.'),
    );
    await thread().getByText('1 step').waitFor();
    await thread().getByRole('paragraph').filter({ hasText: '1 step' }).getByText('$0.01').waitFor();
    expect(await thread().getByText('The build folder is clean.').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
    await thread()
      .getByRole('button', { name: /Run.*rm -rf.*done/ })
      .click();
    const link = thread().getByRole('link', { name: 'Download log.txt 2.0 KB' });
    expect(await link.getAttribute('href')).toBe(`/api/artifacts/${ARTIFACT}/content`);
  });

  it('stops a task once, and says who cancelled it', async () => {
    const { fake, page } = visit;
    beginTask();
    await openChat();
    fake.onCancel = () => {};
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.dblclick();
    await page.getByRole('button', { name: 'Stopping…' }).waitFor();
    expect(await page.getByRole('button', { name: 'Stopping…' }).isDisabled()).toBe(true);
    expect(fake.calls.filter((call) => call.path.endsWith('/cancel'))).toHaveLength(1);
    fake.emit(fake.make.make(TASK, 'task.cancelled', { by: 'web' }));
    await thread().getByText('Cancelled by you').waitFor();
    expect(await page.getByRole('button', { name: 'Stopping…' }).count()).toBe(0);
  });

  it('resumes after each break by the last position, without a gap and without a repeat', async () => {
    const { fake, page } = visit;
    beginTask();
    await openChat();
    const words = Array.from({ length: 120 }, (_, at) => `w${at}`);
    for (const [at, word] of words.entries()) {
      fake.emit(fake.make.text(TASK, 1, `${word} `));
      if (at === 7 || at === 50 || at === 119) {
        fake.dropStreams();
        // Written while nobody listens.
        fake.emit(fake.make.text(TASK, 1, `gap${at} `));
      }
      if (at === 50) await expect.poll(() => fake.streamCount, { timeout: 20_000 }).toBe(1);
    }
    const expected = words
      .flatMap((word, at) => (at === 7 || at === 50 || at === 119 ? [word, `gap${at}`] : [word]))
      .join(' ');
    await expect.poll(() => thread().locator('.prose').innerText(), { timeout: 20_000 }).toBe(expected);
    expect(fake.resumedFrom.length).toBeGreaterThan(1);
    expect(fake.resumedFrom.every((id) => /^\d+$/.test(id ?? ''))).toBe(true);
    await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
  });

  it('says that it reconnects, and then that it is offline, and comes back by itself', async () => {
    const { fake, page } = visit;
    await openChat();
    fake.refusesStreams = true;
    fake.dropStreams();
    await page.getByText('Connection lost.').waitFor();
    await page.locator('[data-connection=offline]').waitFor({ state: 'attached', timeout: 60_000 });
    fake.refusesStreams = false;
    await page.locator('[data-connection=live]').waitFor({ state: 'attached', timeout: 60_000 });
    expect(await page.getByText('You are offline').count()).toBe(0);
  });

  it('loads the history again when the server cannot resume', async () => {
    const { fake, page } = visit;
    beginTask();
    await openChat();
    // Something the stream never sent.
    fake.journal.push(fake.make.turn(TASK, 1, 'Written in between.'));
    fake.sendResync();
    await thread().getByText('Written in between.').waitFor();
    await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
    fake.emit(fake.make.completed(TASK, 'And on.'));
    await thread().getByText('And on.').waitFor();
  });

  it('keeps what was typed when the session ends, and sends it once after signing in again', async () => {
    const { fake, page, context } = visit;
    await openChat();
    fake.isSignedIn = false;
    await composer().fill('a long thought');
    await composer().press('Enter');
    await page.getByText('Your session has ended.').first().waitFor();
    expect(await composer().inputValue()).toBe('a long thought');
    await page.reload();
    await page.getByText('You need a sign-in link.').waitFor();

    const other = await context.newPage();
    await other.goto(`${visit.origin}/sign-in#code=good`);
    await other.waitForURL('**/vitto');
    expect(other.url()).not.toContain('good');
    await page.goto(visit.origin + CHAT);
    await composer().waitFor();
    expect(await composer().inputValue()).toBe('a long thought');
    await composer().press('Enter');
    await expect.poll(() => composer().inputValue()).toBe('');
    const accepted = fake.calls.filter(
      (call) => call.path.endsWith('/messages') && call.headers['x-csrf-token'] === 'csrf-1',
    );
    expect(accepted.at(-1)?.body).toEqual({ text: 'a long thought' });
  });

  it('takes the strip away when another tab has signed in, with the text still there', async () => {
    const { fake, page, context } = visit;
    await openChat();
    fake.isSignedIn = false;
    await composer().fill('half a sentence');
    await composer().press('Enter');
    const strip = page.getByRole('button', { name: 'I have signed in' });
    await strip.waitFor();
    const other = await context.newPage();
    await other.goto(`${visit.origin}/sign-in#code=good`);
    await other.waitForURL('**/vitto');
    await strip.waitFor({ state: 'detached' });
    expect(await composer().inputValue()).toBe('half a sentence');
  });

  it('cannot send twice: by a double Enter, or by a retry of a message whose answer was lost', async () => {
    const { fake, page } = visit;
    const arrived: string[] = [];
    fake.onMessage = (text) => arrived.push(text);
    await openChat();
    const route = `POST /api/conversations/${CONVERSATION}/messages`;
    fake.faults.set(route, 'drop');
    await composer().fill('only once');
    await composer().press('Enter');
    await page.getByText('Not sent.').waitFor();
    expect(await composer().inputValue()).toBe('only once');
    fake.faults.delete(route);
    await page.getByRole('button', { name: 'Try again' }).dblclick();
    await expect.poll(() => composer().inputValue()).toBe('');
    expect(arrived).toEqual(['only once']);
  });

  it('says why a message was refused, keeps it, and sends it as a new request afterwards', async () => {
    const { fake, page } = visit;
    await openChat();
    const route = `POST /api/conversations/${CONVERSATION}/messages`;
    const body = { code: 'budget.no-price', title: 'There is no price known for x.', hint: 'Cap tokens.' };
    fake.faults.set(route, { status: 422, body });
    await composer().fill('do it');
    await composer().press('Enter');
    await page.getByText('There is no price known for x.').waitFor();
    await page.getByText('Cap tokens.').waitFor();
    fake.faults.delete(route);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => composer().inputValue()).toBe('');
    const keys = fake.calls
      .filter((call) => call.path.endsWith('/messages'))
      .map((call) => call.headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
  });

  it('says who won when an approval was decided elsewhere, and refuses with a note', async () => {
    const { fake, page } = visit;
    beginTask();
    fake.emit(
      fake.make.asked(TASK, 'c1', APPROVAL, { command: 'echo \u202egpj.exe' }),
      fake.make.asked(TASK, 'c2', idOf(8), { command: 'ls' }),
    );
    await openChat();
    const card = page.locator(`[data-approval="${APPROVAL}"]`);
    await card.getByText('U+202E').waitFor();
    fake.faults.set(`POST /api/approvals/${APPROVAL}/decision`, {
      status: 409,
      body: { code: 'approval.decided', title: 'This approval was already decided: refused.' },
    });
    await card.getByRole('button', { name: 'Approve once' }).click();
    await card.getByText('already decided: refused').waitFor();

    const second = page.locator(`[data-approval="${idOf(8)}"]`);
    await second.focus();
    await page.keyboard.press('r');
    await page.keyboard.type('use the copy');
    await page.keyboard.press('Enter');
    await second.getByText('Refused by you').waitFor();
    expect(fake.calls.at(-1)?.body).toMatchObject({ decision: 'refused', note: 'use the copy' });
  });

  it('answers a question by its choice, and says that writing steers while a task runs', async () => {
    const { fake, page } = visit;
    beginTask();
    await openChat();
    expect(await composer().getAttribute('placeholder')).toContain('next step');
    fake.emit(
      fake.make.make(TASK, 'task.parked', {
        state: 'waiting_input',
        waitingFor: { kind: 'input', callId: 'q1', question: 'Which **branch**?', choices: ['main', 'dev'] },
      }),
    );
    fake.onMessage = (text) => fake.emit(fake.make.said(TASK, text, { answers: 'q1' }));
    await page.getByRole('button', { name: 'dev', exact: true }).click();
    await thread().getByText('Answered.').waitFor();
    expect(fake.calls.at(-1)?.body).toEqual({ text: 'dev', answers: 'q1' });
  });

  it('goes back through a long conversation page by page and stays bounded at its end', async () => {
    const { fake } = visit;
    fake.historyLimit = 200;
    for (let at = 0; at < 400; at += 1) {
      const task = idOf(10_000 + at);
      fake.emit(
        fake.make.created(task),
        fake.make.said(task, `question ${at}`),
        fake.make.turn(task, 1, `answer ${at}`),
        fake.make.completed(task, `answer ${at}`),
      );
    }
    await openChat();
    await thread().getByText('answer 399', { exact: true }).waitFor();
    expect(await thread().locator('li').count()).toBeLessThanOrEqual(150);
    await expect
      .poll(
        async () => {
          await thread().evaluate((element) => (element.scrollTop = 0));
          return thread().getByText('question 0', { exact: true }).count();
        },
        { timeout: 60_000 },
      )
      .toBe(1);
    await visit.page.getByRole('button', { name: 'Latest' }).click();
    await thread().getByText('answer 399', { exact: true }).waitFor();
    await expect.poll(() => thread().locator('li').count()).toBeLessThanOrEqual(150);
  });
});

describe('signing in', () => {
  it('takes the code out of the address and goes to the chat', async () => {
    visit.fake.isSignedIn = false;
    await visit.page.goto(`${visit.origin}/sign-in#code=good`);
    await visit.page.waitForURL('**/vitto');
    await composer().waitFor();
    const posts = visit.fake.calls.filter((call) => call.path === '/api/session');
    expect(posts.map((call) => call.body)).toEqual([{ code: 'good' }]);
  });

  it('goes to the page that the link names, and to no other site', async () => {
    const { fake, page, origin } = visit;
    fake.isSignedIn = false;
    await page.goto(`${origin}/sign-in#code=good&to=${encodeURIComponent(CHAT)}`);
    await page.waitForURL(origin + CHAT);
    await composer().waitFor();
    for (const elsewhere of ['//elsewhere.example/vitto', 'javascript:alert(1)', '/vitto/../api/session']) {
      await page.goto('about:blank');
      fake.isSignedIn = false;
      await page.goto(`${origin}/sign-in#code=good&to=${encodeURIComponent(elsewhere)}`);
      await page.waitForURL(`${origin}/vitto`);
    }
  });

  it('says what to do when the link was used, and when there is none', async () => {
    visit.fake.isSignedIn = false;
    const { page } = visit;
    await page.goto(`${visit.origin}/sign-in#code=old`);
    await page.getByText('This link does not work any more.').waitFor();
    await page.getByText('npm run vitto -- sign-in').waitFor();
    await page.getByText('npm run vitto -- doctor').waitFor();
    expect(page.url()).not.toContain('old');
    await page.goto(`${visit.origin}/vitto`);
    await page.waitForURL('**/sign-in');
    await page.getByText('You need a sign-in link.').waitFor();
  });
});

describe('what the page says of the installation', () => {
  it('tells what to do without a model, and speaks Spanish to who does', async () => {
    visit.fake.models = [];
    await visit.page.goto(`${visit.origin}/vitto`);
    await visit.page.getByText('I have no language model yet').waitFor();
    await visit.page.getByRole('button', { name: /Preferences/ }).click();
    await visit.page.getByLabel('Language').selectOption('es');
    await visit.page.getByText('Todavía no tengo ningún modelo de lenguaje').waitFor();
    expect(await visit.page.evaluate(() => document.documentElement.lang)).toBe('es');
  });

  it('labels a scripted model', async () => {
    visit.fake.models = ['script:demo.yaml'];
    await visit.page.goto(`${visit.origin}/vitto`);
    await visit.page.getByText('Scripted', { exact: true }).waitFor();
  });
});
