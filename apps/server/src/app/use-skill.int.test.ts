import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCoreTools, ToolRegistry } from '../engine/index.ts';
import { createRunHarness, functionModel, turn, type RunHarness } from '../runs/testing/run-harness.ts';
import { runTask } from '../runs/run-task.ts';
import { createRegistryOpener, createSkillSource, Skills } from '../extensions/index.ts';

let h: RunHarness;
let skills: Skills;
let openRegistry: ReturnType<typeof createRegistryOpener>;
beforeAll(async () => {
  h = await createRunHarness({});
  skills = new Skills(h.database);
  const builtIn = new ToolRegistry([createCoreTools(() => Promise.reject(new Error('not in this test')))]);
  openRegistry = createRegistryOpener(builtIn, [createSkillSource(h.database)]);
});
afterAll(() => h.drop());

const base64 = (content: string | Buffer) => Buffer.from(content as string).toString('base64');

/** Runs a task whose model makes these calls of `use_skill`, one a turn; gives what it was told. */
async function run(...calls: { name: string; file?: string }[]) {
  const model = functionModel((_, call) => {
    const args = calls[call - 1];
    return args === undefined
      ? turn({ text: 'done' })
      : turn({ calls: [{ id: `c${call}`, tool: 'use_skill', args }] });
  });
  h.setModels([model]);
  const { taskId } = await h.start('go');
  const deps = { ...h.tasks, openRegistry, listSkills: (userId: string) => skills.listEnabled(userId) };
  await runTask(deps, taskId, { signal: new AbortController().signal, isDraining: () => false });
  const [system] = model.calls[0]?.prompt ?? [];
  const results = (await h.events(taskId)).filter((event) => event.type === 'tool.called');
  return {
    system: system?.role === 'system' ? system.content : '',
    tools: (model.calls[0]?.tools ?? []).map((tool) => tool.name),
    results: results.map(
      (event) => event.payload as { status: string; text: string; artifacts?: { bytes: number }[] },
    ),
    task: await h.task(taskId),
  };
}

it('is not there for who has no skills', async () => {
  const { system, tools } = await run();
  expect(tools).not.toContain('use_skill');
  expect(system).not.toContain('use_skill');
});

it('gives the instructions and files of a skill when they are asked for, and taints nothing', async () => {
  await skills.put(h.userId, 'greeting', {
    text: '---\nname: greeting\ndescription: How to greet.\n---\n# Greet\nSay ahoy\u200b.',
    files: [
      { path: 'words/es.txt', content: base64('¡hola!') },
      { path: 'logo.png', content: base64(Buffer.from([0, 1, 2])) },
    ],
  });
  const { system, tools, results, task } = await run(
    { name: 'greeting' },
    { name: 'greeting', file: './words/es.txt' },
    { name: 'greeting', file: 'logo.png' },
    { name: 'greeting', file: '../../etc/passwd' },
    { name: 'parting' },
  );
  expect(tools).toContain('use_skill');
  expect(system).toContain('- greeting: How to greet.');
  expect(system).not.toContain('ahoy');
  const [instructions, words, logo, far, none] = results;
  expect(instructions).toMatchObject({
    status: 'ok',
    text: expect.stringMatching(/^# Greet\nSay ahoy\.\n\n\[Files of this skill/),
  });
  expect(words).toMatchObject({ status: 'ok', text: '¡hola!' });
  expect(logo).toMatchObject({ status: 'ok', artifacts: [{ bytes: 3 }] });
  expect(far).toMatchObject({
    status: 'error',
    text: expect.stringContaining('It has: logo.png, words/es.txt.'),
  });
  expect(none).toMatchObject({ status: 'error', text: expect.stringContaining('There are: greeting.') });
  expect(task).toMatchObject({ state: 'completed', tainted: false });
});

it('gives no characters that nobody sees, in files neither', async () => {
  const file = { path: 'notes.md', content: base64('Say ahoy\u{e0049}\u{e0067}.\r\n') };
  const text = '---\nname: hidden\ndescription: Hides things.\n---\nRead notes.md.';
  await skills.put(h.userId, 'hidden', { text, files: [file] });
  const { results } = await run({ name: 'hidden', file: 'notes.md' });
  expect(results[0]?.text).toBe('Say ahoy.\n\n\n[2 invisible characters were taken out]');
  const named = { ...file, path: 'a\u202etxt.md' };
  await expect(skills.put(h.userId, 'hidden', { text, files: [named] })).rejects.toMatchObject({
    code: 'skill.invalid',
    errors: [{ path: 'files.0.path' }],
  });
  await skills.remove(h.userId, 'hidden');
});

it('goes away with the last skill that is switched on', async () => {
  await skills.enable(h.userId, 'greeting', false);
  const { tools, system } = await run();
  expect(tools).not.toContain('use_skill');
  expect(system).not.toContain('greeting');
  await skills.enable(h.userId, 'greeting', true);
  expect((await run()).tools).toContain('use_skill');
});
