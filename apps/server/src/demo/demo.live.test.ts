import { readdirSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { AppError } from '../kernel/app-error.ts';
import { DEMO_PACKAGE } from './demo-package.ts';
import { fetchPackage } from './fetch-package.ts';
import { DEMO_SCRIPT, demoCacheOf } from './prepare-demo.ts';
import {
  makeDemoHome,
  runDemo,
  runServer,
  type DemoHome,
  type RunningProcess,
} from './testing/demo-process.ts';

let home: DemoHome;
let tarball: string | null = null;
let whyNot = '';
const running: RunningProcess[] = [];

beforeAll(async () => {
  home = await makeDemoHome();
  try {
    tarball = await fetchPackage(DEMO_PACKAGE, home.cache);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    whyNot = error.message;
  }
});
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.kill('SIGTERM');
    await one.ended;
  }
});
afterAll(() => home.remove());

function started(one: RunningProcess): RunningProcess {
  running.push(one);
  return one;
}
const headless = (args: string[] = [], env: Record<string, string> = {}, at = home) =>
  started(runDemo(at, ['--headless', ...args], env));
const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('vitto-demo-'));
/** Where npm cannot fetch anything, nor find it in a cache of its own. */
const offline = () => ({
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_cache: join(home.folder, 'no-npm-cache'),
});
const needsProject = (context: TestContext) => context.skip(tarball === null, whyNot);

/** A line for each, by the journals. */
function expectSubVittos(output: string, place: string): void {
  const lines = [...output.matchAll(/^sub-Vitto (.+): completed after \d+\.\d s, (.+)$/gm)];
  expect(lines.map(([, name, where]) => [name, where])).toEqual([
    ['1.1 tester', place],
    ['1.2 reviewer', place],
    ['1.3 coder', place],
    ['2.1 tester', place],
  ]);
}

describe('the demo, headless', () => {
  it('takes the tests of a real project from red to green and prints the diff, also offline once it is cached', async (context) => {
    needsProject(context);
    const before = copies();
    const demo = headless([], offline());
    expect(await demo.ended, demo.output()).toBe(0);
    expect(demo.output()).toMatch(/scripted model: the words are written beforehand, every command is real/i);
    expect(demo.output()).toMatch(
      /^ {2}\[1\.1 tester\] run_command {2}cp .*node --test[^]*^ {2}\[1\.1 tester\] ✖ exit 1 · 94 passed, 4 failed/m,
    );
    expect(demo.output()).toMatch(
      /^tests before: exit 1 · 94 passed, 4 failed\ntests after: {2}exit 0 · 98 passed, 0 failed$/m,
    );
    expect(demo.output()).toMatch(
      /^\+\+\+ project\/index\.js[^]*^- +start = index \+ 1\n\+ +start = \+\+index$/m,
    );
    expect(demo.output()).not.toContain('{{');
    // In a VM where there is one, and then there are two runs; else it says why not.
    const isInVm = demo.output().includes('my own commands ran in a VM.');
    expectSubVittos(demo.output(), isInVm ? 'in the VM' : 'in the process sandbox');
    expect(demo.output()).toMatch(
      isInVm ? /^second run: the VM restored from the user's snapshot/m : /ran in the process sandbox\./,
    );
    expect(demo.output()).toMatch(
      isInVm ? /98 passed.* in the VM$/m : /98 passed.* in the process sandbox$/m,
    );
    expect(copies()).toEqual(before);
  });

  it('does the same without VMs, where each sub-Vitto has a sandbox of its own', async (context) => {
    needsProject(context);
    const demo = headless([], { ...offline(), VITTO_VM_PROVIDER: 'none' });
    expect(await demo.ended, demo.output()).toBe(0);
    expectSubVittos(demo.output(), 'in the process sandbox');
    expect(demo.output()).toContain('my own commands ran in the process sandbox.');
    expect(demo.output()).toMatch(/^✔ The tests went from red to green/m);
  });

  it('ends with 1 when the script mends it wrongly, and says so', async (context) => {
    needsProject(context);
    const script = join(home.folder, 'wrong.yaml');
    const text = await readFile(DEMO_SCRIPT, 'utf8');
    await writeFile(script, text.replace('newText: start = ++index', 'newText: start = index + 2'));
    const demo = headless(['--script', script]);
    expect(await demo.ended, demo.output()).toBe(1);
    expect(demo.output()).toMatch(/Still red[^]*Not mended[^]*still red after the change/);
    expect(demo.output()).not.toContain('✔ The tests went from red to green');
  });

  it('ends with 1 when the script claims what did not happen', async (context) => {
    needsProject(context);
    const script = join(home.folder, 'liar.yaml');
    const calls = '[{ tool: task_complete, arguments: { success: true, report: All tests are green now. } }]';
    await writeFile(script, `turns: [{ text: Mended!, calls: ${calls} }]\n`);
    const demo = headless(['--script', script]);
    expect(await demo.ended, demo.output()).toBe(1);
    expect(demo.output()).toMatch(
      /All tests are green now[^]*✖ [^]*the tests were not run before a change[^]*rounds of no sub-Vittos/,
    );
  });

  it('removes its copy and ends with 130 on Ctrl-C', async (context) => {
    needsProject(context);
    const before = copies();
    const demo = headless();
    await demo.prints(/run_command/);
    demo.kill('SIGINT');
    expect(await demo.ended, demo.output()).toBe(130);
    expect(copies()).toEqual(before);
  });

  it('says what is missing without network and cache', async () => {
    const bare = await makeDemoHome();
    try {
      const demo = headless([], offline(), bare);
      expect(await demo.ended, demo.output()).toBe(2);
      expect(demo.output()).toMatch(/fast-content-type-parse@4\.0\.1.*could not be fetched: npm says \w+/);
      expect(demo.output()).toContain('npm ping');
    } finally {
      await bare.remove();
    }
  });
});

describe('the demo, in the web app', () => {
  it('begins when somebody has signed in, and ends with Ctrl-C', async (context) => {
    needsProject(context);
    const demo = started(runDemo(home, ['--no-open']));
    const [, origin = '', code = ''] = await demo.prints(/(http:\/\/localhost:\d+)\/sign-in#code=([\w-]+)/);
    expect(demo.output()).not.toContain('The demo plays');
    const answer = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    expect(answer.status).toBe(201);
    await demo.prints(/The demo plays: http:\/\/localhost:\d+\/vitto\/c\/[\w-]{36}/);
    demo.kill('SIGINT');
    expect(await demo.ended).toBe(130);
  });

  it('is started by one request to a server that has no model', async (context) => {
    needsProject(context);
    const cache = demoCacheOf(home.folder);
    await mkdir(cache, { recursive: true });
    await copyFile(tarball ?? '', join(cache, basename(tarball ?? '')));
    const server = started(runServer(home));
    const [, url = ''] = await server.prints(/Vitto is ready: (http:\/\/127\.0\.0\.1:\d+)/);
    const token = (await readFile(join(home.folder, 'cli-token'), 'utf8')).trim();
    const headers = { authorization: `Bearer ${token}` };
    const stranger = await fetch(`${url}/api/demo`, { method: 'POST' });
    expect(await stranger.json()).toMatchObject({ status: 401, code: 'sign-in.required' });
    const answer = await fetch(`${url}/api/demo`, { method: 'POST', headers });
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: string };
    const events = await fetch(`${url}/api/tasks/${id}/events`, {
      headers: { ...headers, accept: 'text/event-stream' },
    });
    const cancel = () => fetch(`${url}/api/tasks/${id}/cancel`, { method: 'POST', headers });
    let seen = '';
    let listed: RegExpExecArray | null = null;
    const decoder = new TextDecoder();
    // The stream ends with the task.
    for await (const bytes of events.body as ReadableStream<Uint8Array>) {
      seen += decoder.decode(bytes, { stream: true });
      if (listed !== null) continue;
      listed = /"type":"tool\.called"[^\n]*"tool":"list_files"[^\n]*/.exec(seen);
      if (listed !== null) expect((await cancel()).status).toBe(200);
    }
    expect(listed?.[0]).toMatch(/"status":"ok".*index\.js/);
    // A later demo would sweep the copy.
    const [, copy = ''] = /lies in `([^`]+)`/.exec(seen) ?? [];
    await rm(dirname(copy), { recursive: true });
  });
});
