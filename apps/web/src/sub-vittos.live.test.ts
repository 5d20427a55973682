import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from './testing/browser.ts';
import { checkLooks, LOOKS } from './testing/check-looks.ts';
import { idOf } from './testing/event-maker.ts';
import {
  agentCosts,
  agentTasks,
  CODER,
  HELPER,
  REVIEWER,
  ROOT,
  SECOND,
  tellAgents,
  TESTER,
  WRITER,
} from './testing/sample-agents.ts';

// What people see of sub-Vittos where they watch, look back and count, in real Chromium.

let browser: Browser;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
  language?: 'en' | 'es';
}

/** A server with the sample's tasks and journal, and its page at an address; the test's own are written after that. */
async function visit(
  path: string,
  look: Look = {},
  arrange: (visit: Visit) => void = withSample,
): Promise<Visit> {
  const found = await startVisit(browser, look);
  arrange(found);
  await found.page.addInitScript(
    (language) => localStorage.setItem('vitto.language', language),
    look.language ?? 'en',
  );
  await found.page.goto(`${found.origin}${path}`);
  return found;
}

function withSample({ fake }: Visit): void {
  tellAgents(fake);
  const now = Date.now();
  const told = (id: string) => fake.journal.filter((event) => event.taskId === id).length;
  fake.tasks = agentTasks(now).map((task) => ({ ...task, lastSeq: told(task.id) }));
  fake.costs = agentCosts(new Date(now).toISOString());
}

async function end({ errors, strangers, end: close }: Visit): Promise<void> {
  expect([...errors, ...strangers]).toEqual([]);
  await close();
}

const column = (page: Page, id: string) => page.locator(`[data-column="${id}"]`);
const isLive = (page: Page) => page.locator('[data-connection=live]').waitFor({ state: 'attached' });

/** Whether a line is in sight in its box, not cut off by it: the newest always is. */
function isInBox(page: Page, text: string): Promise<boolean> {
  return page.getByText(text).evaluate((line) => {
    const box = line.closest('[role=group]')?.getBoundingClientRect();
    const { top, bottom } = line.getBoundingClientRect();
    return box !== undefined && top >= box.top && bottom <= box.bottom;
  });
}

/** What the agents at work write while the page looks on. */
function work({ fake }: Visit): void {
  const { make } = fake;
  fake.emit(
    make.text(ROOT, 1, 'I send out five agents and put together what they find.\n'),
    make.text(
      CODER,
      1,
      'The parser reads the file once for each field. I make it one pass, then I measure.\n',
    ),
    make.starting(CODER, 'b1', 'run_command', {
      command: 'npm run bench -- --invoices 10000 --compare main',
    }),
    make.progress(
      CODER,
      'b1',
      `\u001b[32m✓\u001b[0m warm up\n${Array.from({ length: 20 }, (_, at) => `run ${at + 1}: ${420 - at} ms`).join('\n')}\n`,
    ),
    make.progress(TESTER, 't1', 'Test files  118 passed\nTests       942 passed\n'),
    make.text(HELPER, 1, 'I look at the plan of each query.\n'),
  );
}

describe.each(LOOKS)('on $name', (look) => {
  it('the live page is readable and fits', async () => {
    const seen = await visit('/operations/live', look);
    await column(seen.page, CODER).waitFor();
    await isLive(seen.page);
    work(seen);
    await column(seen.page, CODER).getByText('run 20: 401 ms').waitFor();
    expect(await isInBox(seen.page, 'run 20: 401 ms')).toBe(true);
    seen.fake.emit(seen.fake.make.completed(HELPER, 'The query for customers has no index.'));
    await column(seen.page, HELPER).locator('[data-state=completed]').waitFor();
    await checkLooks(seen.page, `live-${look.name}`);
    await end(seen);
  });

  it('the agents at work are readable and fit', async () => {
    const seen = await visit('/operations/agents', look);
    await seen.page.locator(`[data-row="${WRITER}"]`).waitFor();
    await checkLooks(seen.page, `agents-${look.name}`);
    await end(seen);
  });

  it('a task that has deployed others is readable and fits, as a chart and as a table', async () => {
    const seen = await visit(`/vitto/t/${ROOT}`, look);
    await seen.page.locator(`[data-agent="${HELPER}"]`).waitFor();
    await seen.page.locator(`[data-row="agent:${TESTER}"]`).click();
    await checkLooks(seen.page, `family-${look.name}`);
    await seen.page.getByRole('button', { name: /^(As a table|Como tabla)$/u }).click();
    await seen.page.getByRole('columnheader', { name: /^(After|Después de)$/u }).waitFor();
    await checkLooks(seen.page, `family-table-${look.name}`);
    await end(seen);
  });

  it('the costs by role are readable and fit', async () => {
    const seen = await visit('/command/costs', look);
    const part = seen.page.getByRole('region', { name: /^(Agents by role|Agentes por papel)$/u });
    await part.scrollIntoViewIfNeeded();
    await checkLooks(seen.page, `costs-${look.name}`);
    await end(seen);
  });
});

describe('the live page', () => {
  it('shows who begins, what each does, and leaves what has ended until somebody takes it away', async () => {
    const seen = await visit('/operations/live');
    const { page, fake } = seen;
    const { make } = fake;
    await column(page, CODER).waitFor();
    await isLive(page);
    expect(await page.locator('[data-column]').count()).toBe(4);
    await page.getByText('1 more waits in line').waitFor();
    work(seen);
    await column(page, CODER).getByText('npm run bench').waitFor();
    expect(
      await column(page, CODER)
        .getByText(/^run \d+:/u)
        .count(),
    ).toBe(12);
    await column(page, TESTER).getByRole('link', { name: 'Answer it in the inbox' }).waitFor();
    fake.emit(make.started(REVIEWER), make.starting(REVIEWER, 'r1', 'read_file', { path: 'src/parser.ts' }));
    await column(page, REVIEWER).getByText('src/parser.ts').waitFor();
    expect(await page.getByText('more waits in line').count()).toBe(0);
    fake.emit(make.turn(REVIEWER, 1, 'Fine.'), make.completed(REVIEWER, 'Nothing to change.'));
    await column(page, REVIEWER).locator('[data-state=completed]').waitFor();
    await column(page, REVIEWER).getByText('Nothing to change.').waitFor();
    await column(page, ROOT).getByText('+ $0.54 by its agents').waitFor();
    await column(page, REVIEWER).getByRole('button', { name: /^Take/u }).click();
    await column(page, REVIEWER).waitFor({ state: 'detached' });
    await end(seen);
  });

  it('stops one agent and no other, after a question', async () => {
    const seen = await visit('/operations/live');
    const { page, fake } = seen;
    await column(page, CODER).getByRole('button', { name: /^Stop/u }).click();
    expect(fake.calls).toEqual([]);
    await column(page, CODER).getByRole('button', { name: 'Stop', exact: true }).click();
    await expect.poll(() => fake.calls.map((call) => call.path)).toEqual([`/api/tasks/${CODER}/cancel`]);
    await isLive(page);
    fake.emit(fake.make.make(CODER, 'task.cancelled', { by: 'web' }));
    await column(page, CODER).locator('[data-state=cancelled]').waitFor();
    await column(page, HELPER).locator('[data-state=running]').waitFor();
    await end(seen);
  });

  it('says what to do where nobody works, and what went wrong where it cannot tell', async () => {
    const seen = await visit('/operations/live', {}, ({ fake }) => {
      fake.faults.set('GET /api/tasks', { status: 422, body: { code: 'x', title: 'The database is away.' } });
    });
    const { page, fake } = seen;
    await page.getByRole('alert').getByText('I cannot see who is at work.').waitFor();
    fake.faults.clear();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Nobody is at work.').waitFor();
    await checkLooks(page, 'live-empty');
    expect(await page.getByRole('link', { name: 'Give me a task' }).getAttribute('href')).toBe('/vitto');
    await end(seen);
  });

  it('keeps its place, its memory and its answers to the mouse with a hundred agents and 10,000 events', async () => {
    const seen = await visit('/operations/live');
    const { page, fake } = seen;
    const { make } = fake;
    await column(page, CODER).waitFor();
    await isLive(page);
    const ids = Array.from({ length: 100 }, (_, at) => idOf(500 + at));
    for (const [index, id] of ids.entries())
      fake.emit(
        make.created(id, {
          kind: 'subvitto',
          parentTaskId: ROOT,
          rootTaskId: ROOT,
          depth: 1,
          round: 2,
          index,
          title: `Agent ${index}`,
        }),
        make.started(id),
      );
    await page.evaluate(() => {
      const seenTasks = { longest: 0 };
      Object.assign(window, { seenTasks });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          seenTasks.longest = Math.max(seenTasks.longest, entry.duration);
      }).observe({ type: 'longtask' });
    });
    for (let n = 0; n < 100; n += 1) for (const id of ids) fake.emit(make.progress(id, 'c', `line ${n}\n`));
    for (const id of [ids[99] ?? '', ids[0] ?? '']) {
      await column(page, id).scrollIntoViewIfNeeded();
      await column(page, id).getByText('line 99', { exact: true }).waitFor();
    }
    // What is out of sight is not drawn.
    expect(await page.locator('[data-column] .mono').count()).toBeLessThanOrEqual(12 * 14);
    const longest = await page.evaluate(
      () => (window as never as { seenTasks: { longest: number } }).seenTasks.longest,
    );
    console.info(`longest task with 100 agents and 10,000 events: ${longest} ms`);
    for (const id of ids) fake.emit(make.completed(id, 'Done.'));
    // Those that ended before are not kept beyond what may be in sight.
    await expect.poll(() => page.locator('[data-column] [data-state=completed]').count()).toBe(30);
    await page.getByRole('button', { name: 'Clear ended ones' }).click();
    await expect.poll(() => page.locator('[data-column]').count()).toBe(4);
    await end(seen);
  });
});

describe('agents at work', () => {
  it('stand below the task that deployed them, fold by key, and count what was spent below', async () => {
    const seen = await visit('/operations/agents');
    const { page, fake } = seen;
    const row = (id: string) => page.locator('#content li', { has: page.locator(`[data-row="${id}"]`) });
    await row(SECOND).locator('[data-state=failed]').first().waitFor({ state: 'attached' });
    const order = () =>
      page.locator('[data-row]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-row')));
    expect(await order()).toEqual([ROOT, CODER, HELPER, TESTER, WRITER, SECOND, REVIEWER]);
    await row(ROOT).getByText('+ $0.53').waitFor();
    await row(ROOT).getByText('$0.08').first().waitFor();
    await isLive(page);
    fake.emit(fake.make.turn(HELPER, 1, 'Found it.'));
    await row(ROOT).getByText('+ $0.54').waitFor();
    await row(CODER).getByText('+ $0.03').waitFor();

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(order).toEqual([ROOT, CODER, TESTER, WRITER, SECOND, REVIEWER]);
    await page.keyboard.press('ArrowRight');
    await row(HELPER).waitFor();
    await row(ROOT)
      .getByRole('button', { name: /^Agents of/u })
      .click();
    await expect.poll(order).toEqual([ROOT]);
    await end(seen);
  });

  it('load what is below an ended task when somebody opens it', async () => {
    const seen = await visit('/operations/agents', {}, (found) => {
      withSample(found);
      const { fake } = found;
      const over = new Date().toISOString();
      fake.tasks = fake.tasks.map((task) => ({
        ...task,
        state: 'completed',
        waitingFor: null,
        endedAt: over,
      }));
    });
    const { page, fake } = seen;
    await page.locator(`[data-row="${ROOT}"]`).waitFor();
    expect(await page.locator('[data-row]').count()).toBe(1);
    const asked = page.waitForRequest((request) => request.url().includes(`rootId=${ROOT}`));
    await page.getByRole('button', { name: /^Agents of/u }).click();
    await asked;
    await page.locator(`[data-row="${CODER}"]`).waitFor();
    expect(fake.calls).toEqual([]);
    await end(seen);
  });
});

describe('a task that has deployed others', () => {
  it('draws each with its wave, live, and leads to the timeline of each and back', async () => {
    const seen = await visit(`/vitto/t/${ROOT}`);
    const { page, fake } = seen;
    const bar = (id: string) => page.locator(`[data-agent="${id}"]`);
    await bar(REVIEWER).getByText('after 1, 2').waitFor({ state: 'attached' });
    await page.getByText('Round 1, wave 2').waitFor();
    await bar(REVIEWER).getByText('in line').waitFor();
    await isLive(page);
    fake.emit(fake.make.started(REVIEWER));
    await bar(REVIEWER).getByText('running').waitFor({ state: 'attached' });
    const late = idOf(30);
    fake.emit(
      fake.make.created(late, {
        kind: 'subvitto',
        parentTaskId: ROOT,
        rootTaskId: ROOT,
        depth: 1,
        round: 2,
        index: 0,
        title: 'One more',
      }),
    );
    await bar(late).waitFor();
    await page.getByText('Round 2').waitFor();
    const step = page.locator(`[data-row="agent:${SECOND}"]`);
    await step.getByText('failed').waitFor();
    await page.locator(`[data-row="agent:${TESTER}"]`).click();
    await page.getByText('needs a browser').waitFor();
    await bar(CODER).getByRole('link').click();
    await page.waitForURL(new RegExp(`${CODER}$`, 'u'));
    await page.getByRole('link', { name: /^Make the import/u }).waitFor();
    await bar(HELPER).waitFor();
    await end(seen);
  });

  it('keeps its timeline in place below the table of a hundred agents', async () => {
    const seen = await visit(`/vitto/t/${ROOT}`, {}, (found) => {
      withSample(found);
      const { fake } = found;
      const [one] = fake.tasks;
      const more = Array.from({ length: 100 }, (_, index) => ({
        ...one,
        id: idOf(600 + index),
        index,
        round: 2,
      }));
      fake.tasks = [...more.map((task) => ({ ...task, parentId: ROOT })), ...fake.tasks] as typeof fake.tasks;
      for (let n = 0; n < 150; n += 1) fake.emit(fake.make.called(ROOT, `c${n}`, 'read_file'));
    });
    const { page } = seen;
    await page.getByRole('button', { name: 'As a table' }).click();
    await expect
      .poll(() => page.getByRole('region', { name: '106 agents' }).getByRole('row').count())
      .toBe(107);
    await page.locator('[data-steps]').evaluate((list) => list.scrollIntoView({ block: 'center' }));
    await page.locator('[data-steps]').evaluate((list) => list.scrollIntoView({ block: 'start' }));
    const first = page.locator('[data-row]', { hasText: 'Started by a worker' });
    await expect.poll(() => first.count()).toBe(1);
    await end(seen);
  });

  it('says that its agents could not be loaded, and tries again', async () => {
    const seen = await visit(`/vitto/t/${ROOT}`, {}, (found) => {
      withSample(found);
      found.fake.faults.set('GET /api/tasks', { status: 422, body: { code: 'x', title: 'Not now.' } });
    });
    await seen.page.getByText('Its agents could not be loaded.').waitFor();
    seen.fake.faults.clear();
    await seen.page.getByRole('button', { name: 'Try again' }).click();
    await seen.page.locator(`[data-agent="${CODER}"]`).waitFor();
    await end(seen);
  });
});

describe('the costs of sub-Vittos', () => {
  it('are told by role, and the dearest of them lead to themselves and to what all began with', async () => {
    const seen = await visit('/command/costs');
    const { page } = seen;
    const table = page.getByRole('region', { name: 'Agents by role' });
    const coder = table.getByRole('row', { name: /^coder/u });
    await coder.waitFor();
    expect(await coder.getByRole('cell').allTextContents()).toEqual([
      '12',
      '9',
      '2',
      '410,000',
      '$2.60',
      '$0.22',
    ]);
    expect(
      await table
        .getByRole('row', { name: /^no role/u })
        .getByRole('cell')
        .last()
        .textContent(),
    ).toBe('not known');
    const dearest = page.getByRole('region', { name: 'Dearest tasks' }).getByRole('row');
    const first = dearest.nth(1);
    await first.getByText('agent, coder').waitFor();
    expect(await first.getByRole('link', { name: 'of this task' }).getAttribute('href')).toBe(
      `/vitto/t/${ROOT}`,
    );
    expect(await dearest.nth(2).getByText('of this task').count()).toBe(0);
    await end(seen);
  });
});
