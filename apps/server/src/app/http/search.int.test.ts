import type { SearchHit } from '@vitto/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kernel/ids.ts';
import { createClient, type Answer } from './testing/api-client.ts';
import { createHttpTestbed, type HttpTestbed } from './testing/http-testbed.ts';
import { SEARCH } from '../../engine/journal/search.store.ts';

let bed: HttpTestbed;
let owner: (path: string) => Promise<Answer>;
beforeAll(async () => {
  bed = await createHttpTestbed();
  owner = createClient((await bed.startServer()).url, bed.owner.token);
});
afterAll(() => bed.close());

async function find(text: string, limit = 30): Promise<SearchHit[]> {
  const answer = await owner(`/api/search?limit=${limit}&q=${encodeURIComponent(text)}`);
  expect(answer.status, text).toBe(200);
  return answer.json['items'] as SearchHit[];
}
const textOf = (hit: SearchHit | undefined) => (hit?.excerpt ?? []).map((part) => part.text).join('');
const matchesOf = (hit: SearchHit | undefined) =>
  (hit?.excerpt ?? []).filter((part) => part.isMatch).map((part) => part.text);

async function converse(title: string, said: string, result?: string, userId = bed.owner.userId) {
  const id = newId();
  await bed.database.pool.query('insert into vitto_conversations (id, user_id, title) values ($1, $2, $3)', [
    id,
    userId,
    title,
  ]);
  const taskId = await bed.createTask(userId, id);
  await bed.append(taskId, [
    { type: 'user.message', payload: { messageId: newId(), text: said, source: 'test' } },
  ]);
  if (result !== undefined) {
    const spending = { iterations: 1, tokens: 1, costUsd: null, durationMs: 1 };
    await bed.append(taskId, [{ type: 'task.completed', payload: { result, success: true, spending } }]);
  }
  return { id, taskId };
}

describe('a search', () => {
  it('finds what was written, with its place, and marks the words', async () => {
    const { id, taskId } = await converse(
      'Rollout',
      'Please deploy the Kraken to staging',
      'The kraken sleeps.',
    );
    const hits = await find('kraken');
    expect(hits.map((hit) => hit.kind).sort()).toEqual(['message', 'result']);
    const message = hits.find((hit) => hit.kind === 'message');
    expect(message).toMatchObject({
      conversationId: id,
      taskId,
      title: 'Rollout',
      position: expect.any(Number),
    });
    expect(textOf(message)).toBe('Please deploy the Kraken to staging');
    expect(matchesOf(message)).toEqual(['Kraken']);
  });

  it('takes the last word as a beginning, and wants all words', async () => {
    await converse('x', 'the quizzical fox looks at zebras');
    expect(matchesOf((await find('quizzical zeb'))[0])).toEqual(['quizzical', 'zebras']);
    expect(await find('quizz zebras')).toEqual([]);
    expect(await find('quizzical zebra giraffe')).toEqual([]);
  });

  it('knows no language and loses no word of one', async () => {
    await converse('x', 'El niño comió la manzana de la señora');
    await converse('x', 'Файл с отчётом лежит в папке');
    await converse('x', 'whether the who is of the');
    expect(matchesOf((await find('niño la'))[0])).toEqual(expect.arrayContaining(['niño', 'la']));
    expect(await find('ФАЙЛ')).toHaveLength(1);
    expect(await find('whether the who')).toHaveLength(1);
  });

  it('finds titles by any part of them, first of all', async () => {
    const { id } = await converse('Wombat census 🦊', 'count them');
    await converse('other', 'a wombat');
    expect((await find('wombat')).map((hit) => hit.kind)).toEqual(['title', 'message']);
    for (const part of ['ombat cen', '🦊', 'WOMBAT']) {
      const [hit] = await find(part);
      expect(hit).toMatchObject({ conversationId: id, kind: 'title', position: null, taskId: null });
      expect(textOf(hit)).toBe('Wombat census 🦊');
      expect(matchesOf(hit).join('').toLowerCase()).toBe(part.toLowerCase());
    }
  });

  it('takes whatever is typed for what it is', async () => {
    await converse('100% _sure_', "it's C:\\temp & more (really)");
    for (const odd of [
      "a & | ( '",
      "'",
      '"',
      '\\',
      '!',
      ':*',
      'a:*:*',
      '<->',
      '!!a',
      "it's",
      'C:\\temp',
      '%',
      '_',
      '\u0000',
      "'; drop table vitto_users; --",
      '((((',
      "a' | 'b",
      'x'.repeat(200),
      '\u0002\u0003',
      'a\u0301',
      "\\'",
    ]) {
      await find(odd);
    }
    expect((await find('100% _')).map((hit) => hit.title)).toEqual(['100% _sure_']);
    expect((await find("it's c:\\temp")).map((hit) => hit.kind)).toEqual(['message']);
    expect((await find('sure')).map((hit) => hit.kind)).toEqual(['title']);
  });

  it('gives plain text: what was said is neither markup nor marks', async () => {
    await converse('x', '<img src=x onerror=alert(1)> hippogriff \u0002forged\u0003 <b>bold</b>');
    const [hit] = await find('hippogriff');
    expect(matchesOf(hit)).toEqual(['hippogriff']);
    expect([...textOf(hit)].filter((letter) => letter < ' ')).toEqual([]);
  });

  it('refuses what is no search', async () => {
    for (const query of ['', '?q=', '?q=%20', `?q=${'x'.repeat(201)}`, '?q=a&limit=0', '?q=a&limit=101']) {
      expect((await owner(`/api/search${query}`)).status, query).toBe(422);
    }
  });

  it('takes any text into the index, however odd and long', async () => {
    const letters = Array.from({ length: 60_000 }, (_, index) =>
      String.fromCodePoint(0x1_0400 + (index % 40)),
    );
    for (const text of [
      letters.join(''),
      Array.from(
        { length: 40_000 },
        (_, index) => `${letters[index % 40]}${letters[(index * 7) % 40]}-${index}`,
      ).join(' '),
      Array.from({ length: 66_000 }, (_, index) => String.fromCodePoint(0x2_0000 + (index % 40_000))).join(
        ' ',
      ),
      Array.from({ length: 15_000 }, (_, index) => `http://h${index}.io/p${index}?q`).join(' '),
      'x'.repeat(200_000),
      `${'y '.repeat(49_990)}narwhal ${'z '.repeat(5_000)}`,
    ]) {
      await converse('odd', text);
    }
    expect(await find('narwhal')).toHaveLength(1);
  });

  it('does not find what an edit replaced', async () => {
    const { taskId } = await converse('x', 'the axolotl is green', 'an axolotl, noted');
    const [message] = (await find('axolotl')).filter((hit) => hit.kind === 'message');
    await bed.append(taskId, [
      {
        type: 'user.message',
        payload: {
          messageId: newId(),
          text: 'the axolotl is pink',
          source: 'test',
          replaces: newId(),
          replacesPosition: message?.position ?? 0,
        },
      },
    ]);
    expect((await find('axolotl')).map(textOf)).toEqual([expect.stringContaining('pink')]);
  });

  it("shows nobody else's", async () => {
    await converse('theirs okapi', 'their okapi', 'an okapi', bed.stranger.userId);
    expect(await find('okapi')).toEqual([]);
  });
});

describe('a search among 50,000 messages', () => {
  beforeAll(async () => {
    const { taskId } = await converse('many', 'begin');
    for (let from = 0; from < 50_000; from += 5_000) {
      await bed.append(
        taskId,
        Array.from({ length: 5_000 }, (_, index) => ({
          type: 'user.message' as const,
          payload: {
            messageId: newId(),
            source: 'test',
            text: `common words and number${from + index} of them`,
          },
        })),
      );
    }
    await bed.database.pool.query('vacuum analyze vitto_task_events');
  });

  it('finds one, and the newest of what is in all', async () => {
    expect(await find('number31415')).toHaveLength(1);
    const common = await find('common wor', 10);
    expect(common).toHaveLength(10);
    expect(textOf(common[0])).toContain('number49999');
  });

  it.each(["'number31415':*", "'common' & 'wor':*", ''])('reads %s by the index', async (words) => {
    const plan = await bed.database.pool.query(`explain ${SEARCH}`, [
      bed.owner.userId,
      words,
      '%x%',
      500,
      30,
    ]);
    const text = (plan.rows as Record<string, string>[]).map((row) => Object.values(row)[0]).join('\n');
    expect(text).toContain('Bitmap Index Scan on vitto_task_events_search');
    expect(text).not.toContain('Seq Scan on vitto_task_events');
  });
});
