import { AxeBuilder } from '@axe-core/playwright';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Task } from '@vitto/contracts';
import { launchBrowser } from './testing/browser.ts';
import { buildWebApp, openPage, startRealVitto, type RealVitto } from './testing/real-vitto.ts';

let browser: Browser;
let vitto: RealVitto;
let sql: pg.Client;

beforeAll(async () => {
  await buildWebApp();
  browser = await launchBrowser();
  vitto = await startRealVitto();
  sql = new pg.Client({ connectionString: vitto.databaseUrl });
  await sql.connect();
});
afterAll(async () => {
  await sql?.end();
  await browser?.close();
  await vitto?.end();
});

const ASKS = `turns:
  - text: I look first.
    reasoning: What is there?
    faults: [{ status: 529 }]
    calls: [{ tool: run_command, arguments: { command: 'echo <b>hello</b>' } }, { tool: run_command, arguments: { command: exit 3 } }]
  - calls: [{ tool: ask_user, arguments: { question: 'Which **branch**?', choices: [main, trunk] } }]
  - text: Thank you. <img src=x onerror=alert(1)> مرحبا 👩‍👧
`;
const WORKS = `turns:
  - calls: [{ tool: run_command, arguments: { command: sleep 60 } }]
`;

async function startTask(title: string, script: string): Promise<Task> {
  const model = await vitto.writeScript(title.replaceAll(/\W/gu, ''), script);
  const { body } = await vitto.call<Task>('POST', '/api/tasks', { prompt: title, title, model });
  return body;
}

async function waitForState(id: string, state: Task['state']): Promise<void> {
  const isThere = async () => {
    const { body } = await vitto.call<Task>('GET', `/api/tasks/${id}`);
    expect(body.state).toBe(state);
  };
  await vi.waitFor(isThere, { timeout: 30_000, interval: 100 });
}

/** No tool of this version asks for approval: an approval is put where one would be. */
async function addApproval(taskId: string, command: string, minutes = 600): Promise<string> {
  const id = crypto.randomUUID();
  await sql.query(
    `insert into vitto_approvals (id, task_id, user_id, call_id, tool, arguments, arguments_hash, reason, risk, domain, state, expires_at)
     select $1::uuid, id, user_id, $5, 'git_push', $3::json, repeat('0', 64), 'Pushing cannot be undone.', 'irreversible', 'deployment', 'pending', now() + $4::int * interval '1 minute'
     from vitto_tasks where id = $2`,
    [id, taskId, JSON.stringify({ command }), minutes, `call-${id}`],
  );
  return id;
}

/** Events as they pile up in a task that works for a day. */
async function addEvents(taskId: string, count: number): Promise<void> {
  await sql.query('begin');
  await sql.query(
    `insert into vitto_task_events (task_id, seq, user_id, position, conversation_id, type, payload, at)
     select t.id, t.seq + n, t.user_id, p.position + n, t.conversation_id, 'tool.called',
       json_build_object('callId', 'x' || n, 'turn', 1, 'tool', 'run_command', 'status', 'ok', 'text', 'line ' || n, 'durationMs', 500, 'tier', 'vm'),
       now() - interval '1 day' + n * interval '800 ms'
     from vitto_tasks t join vitto_journal_positions p using (user_id), generate_series(1, $2::int) n where t.id = $1`,
    [taskId, count],
  );
  await sql.query('update vitto_tasks set seq = seq + $2 where id = $1', [taskId, count]);
  await sql.query('update vitto_journal_positions set position = position + $1', [count]);
  await sql.query('commit');
}

async function findFaults(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  return [
    ...violations.flatMap((one) =>
      one.nodes.map((node) => `${one.id}: ${node.html} ${node.failureSummary ?? ''}`),
    ),
    ...(isWide ? ['the page is wider than the screen'] : []),
  ];
}

const isPhone = (page: Page) => (page.viewportSize()?.width ?? 0) < 600;

describe('the pages of the shell', () => {
  let asking: Task;
  beforeAll(async () => {
    asking = await startTask('Look <b>around</b>', ASKS);
    await waitForState(asking.id, 'waiting_input');
    await addApproval(asking.id, 'git push --force \u202e# txt', 20);
    const over = await startTask('Say hello', 'turns: [{ text: Hello. }]');
    await waitForState(over.id, 'completed');
  });

  for (const [width, dark] of [
    [1280, false],
    [1280, true],
    [390, false],
    [390, true],
  ] as const) {
    it(`are sound at ${width} px, ${dark ? 'dark' : 'light'}`, async () => {
      const { page, context, errors, strangers } = await openPage(browser, vitto, { width, dark });
      const pages: [path: string, shows: string][] = [
        ['/vitto/inbox', 'I need your approval'],
        ['/operations/agents', 'has a question'],
        [`/vitto/t/${asking.id}`, 'Waited for an answer'],
        ['/vitto/memory', 'Not here yet'],
        ['/vitto/t/00000000-0000-7000-8000-000000000000', 'There is no such task.'],
      ];
      for (const [path, shows] of pages) {
        await page.goto(vitto.url + path);
        await page.locator('#content').getByText(shows).filter({ visible: true }).first().waitFor();
        await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
        expect(await findFaults(page), path).toEqual([]);
      }
      await page.goto(`${vitto.url}/vitto/t/${asking.id}`);
      await page.locator('[data-row]').first().waitFor();
      for (const row of await page.locator('[data-row]').all()) await row.click();
      for (const closed of await page.getByRole('button', { name: /raw event/iu }).all())
        await closed.click();
      expect(await findFaults(page)).toEqual([]);
      expect(await page.locator('#content :is(b, img)').count()).toBe(0);
      expect([...errors, ...strangers]).toEqual([]);
      await context.close();
    });
  }

  it('are all reached from the navigation, which says where one is and what is not here yet', async () => {
    const { page, context, errors } = await openPage(browser, vitto);
    const rail = page.getByRole('navigation', { name: 'Places' }).filter({ visible: true });
    for (const place of ['Agents', 'Operations', 'Command', 'Settings', 'Vitto']) {
      await rail.getByRole('link', { name: place, exact: true }).first().click();
      await page.locator('#content h1').waitFor();
      const names = await rail.locator('ul ul a').allTextContents();
      for (const name of names.filter((one) => !one.startsWith('Look') && !one.startsWith('Say'))) {
        await rail.locator('ul ul a', { hasText: name }).first().click();
        await rail.locator('a[aria-current=page]', { hasText: name }).waitFor();
        await page.locator('#content h1').waitFor();
        if (name.endsWith('later')) await page.locator('#content').getByText('Not here yet').waitFor();
      }
    }
    expect(errors).toEqual([]);
    await context.close();
  });

  it('fold the rail and keep it folded, and put the places at the bottom of a phone', async () => {
    const { page, context } = await openPage(browser, vitto);
    await page.getByRole('button', { name: 'Collapse the sidebar' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Expand the sidebar' }).waitFor();
    expect(await findFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 780 });
    expect(isPhone(page)).toBe(true);
    const bar = page.getByRole('navigation', { name: 'Places' }).filter({ visible: true });
    await bar.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('heading', { name: 'Agents at work' }).waitFor();
    await page.getByRole('button', { name: 'Conversations' }).click();
    const drawer = page.getByRole('dialog', { name: 'Conversations' });
    await drawer.getByRole('button', { name: 'Preferences' }).click();
    await drawer.getByRole('button', { name: 'Sign out' }).waitFor();
    await context.close();
  });

  it('say what to do when a part of the app is gone after an upgrade, having tried once', async () => {
    const { page, context } = await openPage(browser, vitto);
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.route(/assets\/task-page/u, (route) => route.fulfill({ status: 404 }));
    await page.goto(`${vitto.url}/vitto/t/${asking.id}`);
    await page.getByText('A part of this page could not be loaded.').waitFor();
    expect(loads).toBe(2);
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await context.close();
  });
});

describe('the language', () => {
  it('is that of the browser until one is chosen, which then counts for the person', async () => {
    const { page, context } = await openPage(browser, vitto, { locale: 'es-ES' });
    await page.getByText('¿Qué puedo hacer por ti?').or(page.getByText('Pegar una clave')).first().waitFor();
    await page.goto(`${vitto.url}/vitto/settings/budgets`);
    await expect.poll(() => page.title()).toBe('Presupuestos · Ajustes · Vitto');
    const rail = page.getByRole('navigation').filter({ visible: true }).first();
    await rail.getByRole('button', { name: 'Preferencias' }).click();
    await page.getByLabel('Idioma').selectOption('en');
    const language = async () =>
      (await vitto.call<{ language: string | null }>('GET', '/api/settings')).body.language;
    await expect.poll(language).toBe('en');
    await context.close();
  });
});

describe('the keyboard', () => {
  it('goes everywhere, shows what it can, and keeps out of fields and dialogs', async () => {
    const { page, context } = await openPage(browser, vitto);
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim());
    await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
    await page.keyboard.type('gi');
    await page.waitForURL(/inbox$/u);
    await expect.poll(focused).toBe('Inbox');
    await page.keyboard.type('gt');
    await page.waitForURL(/operations\/agents$/u);
    await page.locator('[data-row]').nth(1).waitFor();
    await expect.poll(focused).toBe('Agents at work');
    await page.keyboard.press('j');
    const first = await focused();
    await page.keyboard.press('j');
    expect(await focused()).not.toBe(first);
    await page.keyboard.press('k');
    expect(await focused()).toBe(first);
    await page.keyboard.press('?');
    const overview = page.getByRole('dialog', { name: 'Keyboard' });
    await overview.waitFor();
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.type('gs');
    await page.keyboard.press('Escape');
    await overview.waitFor({ state: 'detached' });
    expect(page.url()).toMatch(/operations\/agents$/u);
    await page.keyboard.press('/');
    await page.waitForURL(/\/vitto$/u);
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await page.keyboard.type('go ?');
    expect(await page.locator('textarea').first().inputValue()).toBe('go ?');
    await context.close();
  });
});

describe('the inbox', () => {
  it('is decided once, by keys, in two tabs that both know at once', async () => {
    const task = await startTask('Publish it', ASKS);
    await waitForState(task.id, 'waiting_input');
    const [first, second] = [
      await addApproval(task.id, 'git push one'),
      await addApproval(task.id, 'git push two'),
    ];
    const { page, context, errors } = await openPage(browser, vitto);
    const other = await context.newPage();
    for (const tab of [page, other]) {
      await tab.goto(`${vitto.url}/vitto/inbox`);
      await tab.locator(`[data-approval="${first}"]`).waitFor();
    }
    const count = async () =>
      Number(await page.locator('[data-inbox-count]').first().getAttribute('data-inbox-count'));
    const before = await count();
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));

    await page.locator(`[data-approval="${first}"]`).focus();
    await page.keyboard.type('aa');
    await other.locator(`[data-approval="${first}"]`).getByText('Approved by you').waitFor();
    await expect.poll(count).toBe(before - 1);
    expect(sent.filter((url) => url.includes(first))).toHaveLength(1);

    await other.locator(`[data-approval="${second}"]`).focus();
    await other.keyboard.press('r');
    await other.keyboard.type('not on a Friday');
    await other.keyboard.press('Enter');
    await page.locator(`[data-approval="${second}"]`).getByText('not on a Friday').waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });

  it('gives the focus back to the card when a refusal is not sent after all', async () => {
    const task = await startTask('Think again', ASKS);
    await waitForState(task.id, 'waiting_input');
    const id = await addApproval(task.id, 'git push three');
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/inbox`);
    await page.locator(`[data-approval="${id}"]`).focus();
    await page.keyboard.press('r');
    await page.keyboard.press('Escape');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-approval'));
    await expect.poll(focused).toBe(id);
    await context.close();
  });

  it('answers a question where it stands, and the task goes on', async () => {
    const task = await startTask('Rename it', ASKS);
    await waitForState(task.id, 'waiting_input');
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/inbox`);
    const row = page.locator(`[data-row^="${task.id}"]`);
    await row.getByLabel('Your answer').fill('develop');
    await page.keyboard.press('Enter');
    await waitForState(task.id, 'completed');
    await row.getByText('Answered.').waitFor();
    await context.close();
  });
});

describe('agents at work', () => {
  it('show a task as it begins, works, is stopped after a question, and ends', async () => {
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/operations/agents`);
    await page.locator('[data-connection=live]').waitFor({ state: 'attached' });
    const task = await startTask('Sleep for a while', WORKS);
    const row = page.locator('#content li', { has: page.locator(`[data-row="${task.id}"]`) });
    await row.getByText('sleep 60').waitFor();
    await row.locator('[data-state=running]').first().waitFor({ state: 'attached' });
    await row.getByRole('button', { name: /^Stop/u }).click();
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: /^Stop/u }).click();
    await row.getByRole('button', { name: 'Stop', exact: true }).click();
    await row.locator('[data-state=cancelled]').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: /^Waiting/u }).click();
    expect(await row.count()).toBe(0);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('name each task, however wide the window is', async () => {
    const task = await startTask('A task with a name of some length', 'turns: [{ text: Done. }]');
    await waitForState(task.id, 'completed');
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/operations/agents`);
    const name = page.locator(`[data-row="${task.id}"]`);
    await name.waitFor();
    const clipped = () =>
      page
        .locator('#content li > div')
        .evaluateAll((rows) => rows.filter((row) => row.scrollHeight > row.clientHeight + 1).length);
    for (const width of [1280, 1024, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await expect
        .poll(async () => (await name.boundingBox())?.width, { message: `${width} px` })
        .toBeGreaterThan(200);
      await expect.poll(clipped, { message: `${width} px` }).toBe(0);
    }
    await context.close();
  });

  it('draw only what is in sight of a thousand tasks', async () => {
    const added = await sql.query(
      `insert into vitto_tasks (id, user_id, root_id, depth, kind, title, state, waiting_for, complexity, estimated_duration, max_iterations)
       select i.id, u.id, i.id, 0, 'scheduled', 'Waiting ' || i.n, 'waiting_children',
         '{"kind":"children","callId":"c","childIds":[]}', 'simple', 'short', 50
       from (select id from vitto_users limit 1) u, (select n, gen_random_uuid() id from generate_series(1, 1000) n) i
       returning id`,
    );
    const { page, context } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/operations/agents`);
    await page.locator('[data-row]').first().waitFor();
    await expect
      .poll(async () => Number(await page.locator('[data-count]').getAttribute('data-count')))
      .toBeGreaterThan(1000);
    expect(await page.locator('[data-row]').count()).toBeLessThan(60);
    await sql.query('delete from vitto_tasks where id = any($1)', [
      added.rows.map((one: { id: string }) => one.id),
    ]);
    await context.close();
  });
});

describe('a task', () => {
  it('is told step by step, live, and copied as a report', async () => {
    const task = await startTask('Tell me all', ASKS);
    await waitForState(task.id, 'waiting_input');
    const { page, context, errors } = await openPage(browser, vitto);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${vitto.url}/vitto/t/${task.id}`);
    const row = (title: string) => page.locator('[data-row]', { hasText: title });
    await row('Turn 1').getByText('2 tries').waitFor();
    await row('Waited for an answer').getByText('going on').waitFor();
    await row('exit 3').click();
    await page.getByText('Exit code 3.').waitFor();
    await vitto.call('POST', `/api/tasks/${task.id}/messages`, { text: 'main' });
    await row('Thank you.').last().waitFor();
    await page.locator('#content [data-state=completed]').first().waitFor();
    await page.getByRole('button', { name: /^Trouble/u }).click();
    expect(await row('Turn 2').count()).toBe(0);

    const chart = page.getByRole('slider', { name: /^Steps over time/u });
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    expect(await chart.getAttribute('aria-valuetext')).toContain('Turn 1');
    await page.keyboard.press('Enter');
    await page
      .getByText('What is there?')
      .or(page.getByRole('button', { name: 'Reasoning' }))
      .first()
      .waitFor();

    await page.getByRole('button', { name: 'Copy as a bug report' }).click();
    await page.getByText('Copied. Read it through').waitFor();
    const report = await page.evaluate(() => navigator.clipboard.readText());
    expect(report).toContain(`# Task ${task.id}`);
    expect(report).toContain('"type":"task.completed"');
    expect(errors).toEqual([]);
    await context.close();
  });

  it('of 100,000 events opens at its beginning, goes to its end, and draws what is in sight', async () => {
    const task = await startTask('Work all day', 'turns: [{ text: Done. }]');
    await waitForState(task.id, 'completed');
    await addEvents(task.id, 100_000);
    const { page, context, errors } = await openPage(browser, vitto);
    await page.goto(`${vitto.url}/vitto/t/${task.id}`);
    await page.locator('[data-row="state:1"]').waitFor();
    await page.getByRole('button', { name: 'Go to the end' }).click();
    await page.getByRole('button', { name: 'Show earlier steps' }).waitFor({ state: 'attached' });
    expect(await page.locator('[data-row]').count()).toBeLessThan(60);
    const loaded = Number(await page.locator('[data-steps]').getAttribute('data-steps'));
    await page.getByRole('button', { name: 'Show earlier steps' }).click();
    await expect
      .poll(async () => Number(await page.locator('[data-steps]').getAttribute('data-steps')))
      .toBeGreaterThan(loaded);
    expect(errors).toEqual([]);
    await context.close();
  });
});
