import { AxeBuilder } from '@axe-core/playwright';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp, launchBrowser, startVisit, type Visit } from '../../testing/browser.ts';
import { idOf } from '../../testing/event-maker.ts';
import { CONVERSATION } from '../../testing/fake-vitto.ts';

const CHAT = `/vitto/c/${CONVERSATION}`;
const TASK = idOf(1);

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
const send = () => visit.page.getByRole('button', { name: 'Send', exact: true });
const panel = () => visit.page.getByRole('complementary');
const chips = () => visit.page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function openChat(search = ''): Promise<void> {
  await visit.page.goto(visit.origin + CHAT + search);
  await composer().waitFor();
}

async function openFile(name: string, mediaType: string, content: string | Buffer): Promise<void> {
  const { id } = visit.fake.artifacts.add(name, mediaType, content);
  await openChat(`?artifact=${id}`);
  await panel().getByRole('heading', { name }).waitFor();
}

describe('a file beside the conversation', () => {
  it('opens from a card, can be linked to, closes with Escape, and gives the focus back', async () => {
    const { fake, page } = visit;
    const file = fake.artifacts.add('notes.txt', 'text/plain', 'one\ntwo');
    fake.emit(fake.make.created(TASK), fake.make.completed(TASK, 'Done.', { artifacts: [file] }));
    await openChat();
    const button = page.getByRole('button', { name: 'Open notes.txt' });
    await button.click();
    await panel().getByText('two').waitFor();
    expect(page.url()).toContain(`artifact=${file.id}`);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await page.keyboard.press('Escape');
    await panel().waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('artifact');
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.goto(visit.origin + CHAT + `?artifact=${file.id}`);
    await panel().getByText('two').waitFor();
    expect(await panel().getByRole('link', { name: 'Download notes.txt' }).getAttribute('href')).toBe(
      `/api/artifacts/${file.id}/content`,
    );
  });

  it('reads a long text in parts as one scrolls, and draws only what is in sight', async () => {
    const lines = Array.from({ length: 60_000 }, (_, at) => `line ${at + 1} ${'x'.repeat(20)}`).join('\n');
    await openFile('big.log', 'text/plain', lines);
    const text = panel().getByRole('group', { name: 'big.log' });
    await text.getByText('line 1 x').waitFor();
    expect(visit.fake.artifacts.ranges.length).toBeLessThan(3);
    expect(await text.locator('div.absolute').count()).toBeLessThan(200);
    await expect
      .poll(
        async () => {
          await text.evaluate((element) => (element.scrollTop = element.scrollHeight));
          return text.getByText('line 60000 x').count();
        },
        { timeout: 30_000 },
      )
      .toBe(1);
    expect(visit.fake.artifacts.ranges.length).toBeGreaterThan(5);
  });

  it('breaks a line of a megabyte into pieces, and keeps emoji whole at their edges', async () => {
    await openFile('one-line.txt', 'text/plain', '🦊'.repeat(250_000));
    const text = panel().getByRole('group', { name: 'one-line.txt' });
    await text.getByText('🦊🦊').first().waitFor();
    expect(await text.innerText()).not.toContain('\ufffd');
    expect(await text.locator('div.absolute').count()).toBeLessThan(200);
  });

  it('colours a diff, says what was added and removed, and knows one that is not called so', async () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n';
    await openFile('change.txt', 'text/plain', diff);
    await panel().getByText('1 line added, 1 removed').waitFor();
    await panel().locator('.text-green', { hasText: 'added: +new' }).waitFor();
    await panel().locator('.text-red', { hasText: 'removed: -old' }).waitFor();
  });

  it('shows tables of CSV and of JSON, a part of the rows at first, and their source', async () => {
    const csv = `name,note\n${Array.from({ length: 450 }, (_, at) => `n${at},"a, ""b"""`).join('\n')}`;
    await openFile('sizes.csv', 'text/csv', csv);
    await panel().getByRole('columnheader', { name: 'note' }).waitFor();
    await panel().getByRole('cell', { name: 'a, "b"' }).first().waitFor();
    await panel().getByText('200 of 450 rows').waitFor();
    await panel().getByRole('button', { name: 'Show more' }).click();
    await panel().getByText('400 of 450 rows').waitFor();
    await panel().getByRole('button', { name: 'Source' }).click();
    await panel().getByText('n0,"a, ""b"""').waitFor();
    await openFile('list.json', 'application/json', '[{"id":1,"of":{"a":2}},{"id":3,"more":"x"}]');
    await panel().getByRole('columnheader', { name: 'more' }).waitFor();
    await panel().getByRole('cell', { name: '{"a":2}' }).waitFor();
    await openFile('tree.json', 'application/json', '{"a":{"b":1}}');
    await panel().getByText('"b": 1').waitFor();
    await openFile('broken.json', 'application/json', '{"a":');
    await panel().getByText('{"a":').waitFor();
  });

  it('draws a picture from its bytes, and a picture with a script in it without the script', async () => {
    await openFile('dot.png', 'image/png', PIXEL);
    await panel().getByRole('img', { name: 'dot.png' }).waitFor();
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>window.__x=1</script></svg>';
    await openFile('bad.svg', 'image/svg+xml', svg);
    const image = panel().getByRole('img', { name: 'bad.svg' });
    await image.waitFor();
    expect(await image.getAttribute('src')).toMatch(/^blob:/);
    expect(await visit.page.evaluate(() => (window as { __x?: number }).__x)).toBeUndefined();
  });

  it('offers what it cannot show for download, and says when a file is gone or cannot be loaded', async () => {
    await openFile('app.bin', 'application/x-executable', Buffer.from([0, 1, 2]));
    await panel().getByText('I cannot show this kind of file.').waitFor();
    await openChat(`?artifact=${idOf(999)}`);
    await panel().getByText('There is no such file.').waitFor();
    const { id } = visit.fake.artifacts.add('late.txt', 'text/plain', 'here');
    visit.fake.faults.set(`GET /api/artifacts/${id}/content`, {
      status: 503,
      body: { code: 'busy', title: 'The database is away.' },
    });
    await openChat(`?artifact=${id}`);
    await panel().getByText('The database is away.').waitFor();
    visit.fake.faults.clear();
    await panel().getByRole('button', { name: 'Try again' }).click();
    await panel().getByText('here').waitFor();
  });

  it('lies over the conversation on a phone, which cannot be reached meanwhile', async () => {
    const { page } = visit;
    await page.setViewportSize({ width: 390, height: 800 });
    await openFile('notes.txt', 'text/plain', 'one\ntwo');
    const box = await panel().boundingBox();
    expect(box).toMatchObject({ x: 0, y: 0, width: 390, height: 800 });
    for (let at = 0; at < 8; at += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.closest('main') === null)).toBe(true);
    }
    await panel().getByRole('button', { name: 'Close the file' }).click();
    await composer().waitFor();
  });
});

describe('files of a message', () => {
  const text = (name: string, content = 'hello') => ({
    name,
    mimeType: 'text/plain',
    buffer: Buffer.from(content),
  });
  const give = (...files: ReturnType<typeof text>[]) =>
    visit.page.locator('input[data-attach]').setInputFiles(files);

  it('are uploaded at once, survive a reload, go with the message and stand on it', async () => {
    const { fake, page } = visit;
    await openChat();
    await give(text('notes.txt'), text('other.txt'));
    // In the order in which they have arrived.
    await expect
      .poll(async () => (await chips().allInnerTexts()).sort())
      .toEqual([expect.stringContaining('notes.txt'), expect.stringContaining('other.txt')]);
    await expect.poll(() => page.getByRole('progressbar').count()).toBe(0);
    const upload = fake.calls.find((call) => call.path === '/api/attachments');
    expect(upload?.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'x-csrf-token': 'csrf-1',
    });
    await page.reload();
    await expect.poll(() => chips().count()).toBe(2);
    await page.getByRole('button', { name: 'Remove other.txt' }).click();
    await composer().fill('read this');
    fake.onMessage = (said, body) => {
      const ids = body['attachments'] as string[];
      const attachments = ids.map((id) => fake.artifacts.find(id)).filter((one) => one !== null);
      fake.emit(fake.make.created(TASK), fake.make.said(TASK, said, { attachments }));
    };
    await composer().press('Enter');
    await page.getByRole('button', { name: 'Open notes.txt' }).click();
    await panel().getByText('hello').waitFor();
    expect(await chips().count()).toBe(0);
    expect(fake.calls.at(-1)?.body).toMatchObject({ text: 'read this', attachments: [expect.any(String)] });
  });

  it('hold the message up while they are on their way, and can be stopped', async () => {
    const { fake, page } = visit;
    fake.onUpload = (name) => (name === 'slow.txt' ? new Promise(() => {}) : undefined);
    await openChat();
    await give(text('slow.txt'));
    await composer().fill('now');
    await page.getByText('The message can go when the files are uploaded.').waitFor();
    expect(await send().isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Stop uploading slow.txt' }).click();
    await expect.poll(() => chips().count()).toBe(0);
    expect(await send().isDisabled()).toBe(false);
  });

  it('say what is wrong with one at that one, and try it again', async () => {
    const { fake, page } = visit;
    fake.faults.set('POST /api/attachments', {
      status: 413,
      body: { code: 'attachment.too-large', title: 'The file is larger than 20 MB.' },
    });
    await openChat();
    await give(text('empty.txt', ''), text('fine.txt'));
    await chips().filter({ hasText: 'The file is empty' }).waitFor();
    const failed = chips().filter({ hasText: 'The file is larger than 20 MB.' });
    await failed.waitFor();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    fake.faults.clear();
    await failed.getByRole('button', { name: 'Try again: fine.txt' }).click();
    await page.getByRole('button', { name: 'Remove fine.txt' }).waitFor();
    await expect.poll(() => page.getByText('larger than 20 MB').count()).toBe(0);
  });

  it('can be dropped on the page and pasted', async () => {
    const { page } = visit;
    await openChat();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
      const target = document.querySelector('#content') as HTMLElement;
      for (const type of ['dragenter', 'dragover', 'drop'])
        target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
      const pasted = new DataTransfer();
      pasted.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
      const field = document.querySelector('#content textarea') as HTMLElement;
      field.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true }),
      );
    });
    await page.getByRole('button', { name: 'Remove dropped.txt' }).waitFor();
    await page.getByRole('button', { name: 'Remove image.png' }).waitFor();
    expect(await page.getByText('Drop the files to attach them').count()).toBe(0);
  });
});
