import type { FakeVitto } from './fake-vitto.ts';
import { idOf } from './event-maker.ts';

const DONE = idOf(1);
const NOW = idOf(2);
/** Every hue and tint that output can have. */
const COLOURS = `${[2, 31, 32, 33, 34, 35, 36, 90, 41, 42, 43, 44, 45, 46, 100, 7]
  .map((code) => `\u001b[${code}mcolour ${code}\u001b[0m`)
  .join(' ')} \u001b]8;;https://example.com\u0007a link\u001b]8;;\u0007\n`;

/** A conversation with one finished task: every kind of thing that a thread shows. */
export function tellFinishedTask(fake: FakeVitto): void {
  const { make } = fake;
  fake.title = 'Clean the build folder';
  fake.emit(
    make.created(DONE),
    make.said(DONE, 'Clean the build folder of this project and tell me how much space it freed.'),
    make.started(DONE),
    make.make(DONE, 'vm.degraded', { reason: 'This machine has no KVM.', fallbackTier: 'process-sandbox' }),
    make.make(DONE, 'agent.reasoning', { turn: 1, attempt: 1, delta: 'First I should look.' }),
    make.text(DONE, 1, 'I look at'),
    make.make(DONE, 'model.retry', {
      turn: 1,
      attempt: 1,
      model: 'anthropic/claude',
      reason: 'overloaded',
      status: 529,
      delayMs: 1500,
      message: '529 overloaded_error',
    }),
    make.turn(DONE, 1, 'I look at what is there first.', {
      calls: [
        { id: 'c1', tool: 'run_command', input: { command: 'du -sh build && ls build' } },
        {
          id: 'c2',
          tool: 'fetch_webpage',
          input: { url: 'https://example.com/a/rather/long/path/to/a/page' },
        },
      ],
    }),
    make.starting(DONE, 'c1', 'run_command', { command: 'du -sh build && ls build' }),
    make.called(DONE, 'c1', 'run_command', {
      text: '412M\tbuild\nassets\nindex.html',
      ranOn: { kind: 'process-sandbox' },
      artifacts: [{ id: idOf(77), name: 'listing.txt', mediaType: 'text/plain', bytes: 18_432 }],
    }),
    make.called(DONE, 'c2', 'fetch_webpage', {
      status: 'error',
      text: 'The page answered 404.',
      durationMs: 312,
      untrusted: 'https://example.com',
    }),
    make.called(DONE, 'c3', 'whistle_user', {
      data: { message: 'The cache is larger than the project.', severity: 'warning' },
    }),
    make.turn(DONE, 2, LONG_ANSWER),
    make.raw(DONE, 'moon.rose', { phase: 'full' }),
    make.completed(DONE, LONG_ANSWER),
  );
}

/** A task that runs a command. */
export function tellRunningTask(fake: FakeVitto): void {
  const { make } = fake;
  const command = { command: 'npm test -- --reporter=dot' };
  fake.emit(
    make.created(NOW),
    make.said(NOW, 'Now run the tests.'),
    make.started(NOW),
    make.turn(NOW, 1, 'I run them in the sandbox.', {
      calls: [{ id: 'r1', tool: 'run_command', input: command }],
    }),
    make.starting(NOW, 'r1', 'run_command', command),
    make.progress(NOW, 'r1', COLOURS),
    make.progress(NOW, 'r1', '\u001b[32m✓\u001b[0m 118 passed\r\u001b[32m✓\u001b[0m 240 passed, 2 running\n'),
  );
}

/** A task that waits for a yes or a no, with something hidden in its command, and asks a question besides. */
export function tellAskingTask(fake: FakeVitto): void {
  const { make } = fake;
  const command = { command: 'git push --force origin main \u202e# txt.sh', cwd: '/home/vitto/project' };
  fake.emit(
    make.created(NOW),
    make.said(NOW, 'Publish it.'),
    make.started(NOW),
    make.turn(NOW, 1, 'This leaves the sandbox, so I ask first.', {
      calls: [{ id: 'a1', tool: 'git_push', input: command }],
    }),
    make.asked(NOW, 'a1', idOf(7), command, {
      tool: 'git_push',
      reason: 'Pushing cannot be undone, and your level for deployment is SUGGEST.',
      domain: 'deployment',
    }),
    make.make(NOW, 'task.parked', {
      state: 'waiting_approval',
      waitingFor: { kind: 'approval', approvalIds: [idOf(7)] },
    }),
  );
}

export function tellQuestion(fake: FakeVitto): void {
  const { make } = fake;
  fake.emit(
    make.created(NOW),
    make.said(NOW, 'Rename the branch.'),
    make.started(NOW),
    make.make(NOW, 'task.parked', {
      state: 'waiting_input',
      waitingFor: { kind: 'input', callId: 'q1', question: 'To which name?', choices: ['main', 'trunk'] },
    }),
  );
}

/** A task that ends badly, after warnings. */
export function tellFailedTask(fake: FakeVitto): void {
  const { make } = fake;
  fake.emit(
    make.created(NOW),
    make.said(NOW, 'Try again with the other server.'),
    make.started(NOW),
    make.make(NOW, 'model.fallback', {
      turn: 1,
      from: 'anthropic/claude',
      to: 'script:demo.yaml',
      reason: 'overloaded',
    }),
    make.turn(NOW, 1, 'I try the mirror.', { model: 'script:demo.yaml', costUsd: null }),
    make.make(NOW, 'task.stuck', {
      pattern: 'repeat',
      action: 'nudged',
      note: 'The same download failed three times.',
      tried: ['fetch_webpage https://mirror.example'],
    }),
    make.make(NOW, 'budget.exceeded', { budget: 'tokens', limit: 20_000, spent: 19_850, ofTaskId: NOW }),
    make.make(NOW, 'task.failed', {
      error: {
        code: 'model.unavailable',
        message: 'No model of the list answered.',
        hint: 'Try again in a few minutes, or name another model in VITTO_MODEL.',
      },
      spending: { iterations: 3, tokens: 19_850, costUsd: null, durationMs: 65_000 },
    }),
  );
}

export const LONG_ANSWER = `The build folder held **412 MB**. I removed the old assets and kept the manifest.

| folder | before | after |
| --- | ---: | ---: |
| \`build/assets\` | 398 MB | 0 |
| \`build/maps\` | 14 MB | 0 |

## What to know

1. The next build takes about a minute longer.
2. Nothing outside of \`build\` was touched. See [the guide](https://example.com/guide).

\`\`\`sh
npm run build -- --clean
\`\`\`

- [x] assets removed
- [ ] cache kept on purpose

> If you want this each week, tell me and I set up a trigger.`;
