import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, openEverything, startVisit, type Visit } from './testing/browser.ts';
import { idOf } from './testing/event-maker.ts';
import { CONVERSATION } from './testing/fake-vitto.ts';

const TASK = idOf(1);
const FENCE = '```';

/** Text that has run, loaded or hidden something in other products' pages. */
const HOSTILE = [
  '<img src=x onerror=window.__x=1>',
  '<img src=https://evil.test/p.png>',
  '<svg/onload=window.__x=1>',
  '[go](javascript:window.__x=1)',
  '[go](JaVaScRiPt:window.__x=1)',
  '[go](data:text/html,<script>window.__x=1</script>)',
  '[go](//evil.test/a)',
  '[go](/api/session)',
  '<javascript:window.__x=1>',
  `${FENCE}\n<form action=https://evil.test><input></form>\n${FENCE}`,
  `${FENCE}"><script>window.__x=1</script>\ncode\n${FENCE}`,
  '<iframe srcdoc="<script>parent.__x=1</script>"></iframe>',
  '</pre><script>window.__x=1</script>',
  '<style>*{display:none}</style>',
  '<a href=//evil.test target=_blank>there</a>',
  '![tracker](https://evil.test/pixel.png)',
  '![x](data:image/svg+xml,<svg onload=window.__x=1>)',
  '| a |\n| --- |\n| <img src=x onerror=window.__x=1> [y](vbscript:x) |',
  '<base href=https://evil.test/><meta http-equiv=refresh content="0;url=https://evil.test">',
  '[ref]: javascript:window.__x=1\n[ref]',
].join('\n\n');

let browser: Browser;
let visit: Visit;
beforeAll(async () => {
  await buildApp();
  browser = await launchBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  visit = await startVisit(browser);
  await visit.context.route('https://evil.test/**', (route) => route.abort());
});
afterEach(async () => {
  const { errors, strangers } = visit;
  await visit.end();
  expect(errors).toEqual([]);
  expect(strangers).toEqual([]);
});

const thread = () => visit.page.getByRole('region', { name: 'Conversation', exact: true });

async function openChat(): Promise<void> {
  await visit.page.goto(`${visit.origin}/vitto/c/${CONVERSATION}`);
  await visit.page.locator('[data-connection=live]').waitFor({ state: 'attached' });
}

/** The same text in every field that somebody else can fill. */
function writeEverywhere(text: string): void {
  const { fake } = visit;
  const { make } = fake;
  fake.title = text;
  fake.emit(
    make.created(TASK, { title: text }),
    make.said(TASK, text, {
      attachments: [{ id: idOf(78), name: text, mediaType: text, bytes: 1 }],
    }),
    make.started(TASK),
    make.make(TASK, 'vm.degraded', { reason: text, fallbackTier: text }),
    make.make(TASK, 'agent.reasoning', { turn: 1, attempt: 1, delta: text }),
    make.text(TASK, 1, text),
    make.make(TASK, 'model.retry', {
      turn: 1,
      attempt: 1,
      model: text,
      reason: text,
      delayMs: 1,
      message: text,
    }),
    make.make(TASK, 'model.fallback', { turn: 1, from: text, to: text, reason: text }),
    make.turn(TASK, 1, text, { calls: [{ id: 'c1', tool: text, input: { [text]: text } }], model: text }),
    make.starting(TASK, 'c1', text, { command: text }),
    make.progress(TASK, 'c1', text),
    make.called(TASK, 'c1', text, {
      status: 'error',
      text,
      untrusted: text,
      data: { [text]: text },
      artifacts: [{ id: idOf(77), name: text, mediaType: text, bytes: 1 }],
    }),
    make.called(TASK, 'm', `mcp__${text}__${text}`, { text, untrusted: text }),
    make.called(TASK, 'w', 'whistle_user', { data: { message: text, severity: text } }),
    make.asked(TASK, 'c2', idOf(7), { [text]: text }, { tool: text, reason: text }),
    make.make(TASK, 'task.parked', {
      state: 'waiting_input',
      waitingFor: { kind: 'input', callId: 'q', question: text, choices: [text] },
    }),
    make.make(TASK, 'task.stuck', { pattern: 'repeat', action: 'nudged', note: text, tried: [text] }),
    make.raw(TASK, text, { [text]: text }),
    make.make(TASK, 'task.failed', { error: { code: text, message: text, hint: text } }),
  );
  const second = idOf(2);
  fake.emit(make.created(second), make.text(second, 1, text), make.completed(second, `${text}\n\nresult`));
}

describe('text of others', () => {
  it('runs nothing, loads nothing, hides nothing and links only to the web and to mail', async () => {
    const { page } = visit;
    writeEverywhere(HOSTILE);
    await openChat();
    await openEverything(page);
    await thread().getByText('<svg/onload=window.__x=1>').first().waitFor();
    expect(await page.evaluate(() => (window as { __x?: number }).__x)).toBeUndefined();
    const found = await page.evaluate(() => ({
      foreign: document.querySelectorAll('#root :is(script, iframe, style, form[action], base, meta, object)')
        .length,
      images: [...document.querySelectorAll('#root img')].map((image) => image.getAttribute('src')),
      handlers: [...document.querySelectorAll('#root *')].filter((element) =>
        element.getAttributeNames().some((name) => name.startsWith('on')),
      ).length,
      links: [...document.querySelectorAll('section a[href]')].map((link) => ({
        href: link.getAttribute('href') ?? '',
        rel: link.getAttribute('rel'),
      })),
    }));
    expect(found.foreign).toBe(0);
    expect(found.handlers).toBe(0);
    expect(new Set(found.images)).toEqual(new Set(['/favicon.svg']));
    const outside = found.links.filter((link) => !link.href.startsWith('/api/artifacts/'));
    expect(outside.length).toBeGreaterThan(0);
    for (const link of outside) {
      expect(link.href).toMatch(/^(?:https?:\/\/|mailto:)/);
      expect(link.rel).toBe('noopener noreferrer');
    }
    expect(await thread().isVisible()).toBe(true);
  });

  it('from a terminal is plain: no escape, no link, no title, and only the last state of a progress bar', async () => {
    const { fake, page } = visit;
    const { make } = fake;
    const text =
      '\u001b[31mred\u001b[0m \u001b]8;;javascript:alert(1)\u001b\\click\u001b]8;;\u0007 \u001b]0;title\u0007\u001b]52;c;ZXZpbA==\u0007end\n';
    const bar = Array.from({ length: 5000 }, (_, at) => `\r${at + 1}/5000`).join('');
    fake.emit(
      make.created(TASK),
      make.started(TASK),
      make.starting(TASK, 'c1', 'run_command', { command: 'x' }),
    );
    await openChat();
    // Cut in the middle of a sequence.
    for (const piece of [
      text.slice(0, 3),
      text.slice(3, 16),
      text.slice(16, 25),
      text.slice(25),
      bar,
      '\u001b',
    ])
      fake.emit(make.progress(TASK, 'c1', piece));
    await thread().getByText('5000/5000').first().waitFor();
    await thread().getByRole('button', { name: /Run/ }).click();
    const output = thread().getByRole('group', { name: 'Output' });
    await expect.poll(() => output.innerText()).toBe('red click end\n5000/5000');
    expect(await page.title()).not.toContain('title');
  });

  it('keeps emoji whole and lets right-to-left text run its own way', async () => {
    const { fake } = visit;
    const { make } = fake;
    fake.emit(
      make.created(TASK),
      make.said(TASK, 'مرحبا بالعالم 👨‍👩‍👧'),
      make.started(TASK),
      make.text(TASK, 1, 'שלום a fox: \ud83e'),
    );
    await openChat();
    fake.emit(make.text(TASK, 1, '\udd8a and 👩🏽‍💻.'));
    const answer = thread().locator('.prose p');
    await expect.poll(() => answer.innerText()).toBe('שלום a fox: 🦊 and 👩🏽‍💻.');
    expect(await answer.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
    const said = thread().getByText('مرحبا بالعالم 👨‍👩‍👧');
    expect(await said.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
  });
});
