import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readKnownEvent, type EventEnvelope, type EventPayload } from '@vitto/contracts';
import type { Vitto } from '../app/start-vitto.ts';
import { DEMO_PACKAGE } from './demo-package.ts';
import { DemoClient } from './demo-client.ts';
import { followDemo } from './follow-demo.ts';
import { judgeDemo, readTestRuns } from './judge-demo.ts';
import { toPlainText } from './plain-text.ts';
import { demoCacheOf, prepareDemo, type PreparedDemo } from './prepare-demo.ts';
import { removePauses } from './remove-pauses.ts';
import { describeVm, ProgressTeller } from './tell-progress.ts';
import { tellVerdict } from './tell-verdict.ts';

export interface HeadlessOptions {
  /** What the scripted model plays. */
  script: string;
  /** Cancels the task. */
  signal: AbortSignal;
  write: (line: string) => void;
}

/**
 * Plays the demo over the HTTP API of a running Vitto, as a client of it, and tells it line by line.
 * @returns whether the journal shows that the tests really went from red to green.
 */
export async function runHeadless(vitto: Vitto, options: HeadlessOptions): Promise<boolean> {
  const { home } = vitto.installation.config;
  const { write } = options;
  const demo = await prepareDemo(demoCacheOf(home));
  try {
    const script = await placeScript(options.script, home);
    tellSetting(demo, vitto.url ?? '', write);
    const client = await DemoClient.connect(vitto);
    const rootId = await client.startDemo(demo, script);
    const events = await followTask(client, rootId, options);
    tellReport(events, rootId, write);
    const verdict = judgeDemo(events, rootId);
    tellVerdict(verdict, write);
    if (verdict.problems.length > 0) return false;
    return await showSecondRun(client, { events, rootId }, { ...options, script });
  } finally {
    await demo.remove();
  }
}

/** The script without its pauses, under a name of its content: a task that a killed demo left may still play it. */
async function placeScript(script: string, home: string): Promise<string> {
  const text = removePauses(await readFile(script, 'utf8'));
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const file = join(home, `script-${hash}.yaml`);
  await writeFile(file, text);
  return file;
}

/** Where the demo ran in a VM: puts it aside as after a task, and shows that the next task finds all as it was. */
async function showSecondRun(
  client: DemoClient,
  first: { events: EventEnvelope[]; rootId: string },
  options: HeadlessOptions,
): Promise<boolean> {
  const vm = readVm(first.events, first.rootId);
  if (vm?.vmId === undefined) return true;
  const { write } = options;
  write('\nThe VM is put aside: its memory goes to a snapshot. Then the tests once more.');
  await client.snapshot(vm.vmId);
  const id = await client.startSecondRun(options.script);
  const events = await followTask(client, id, options);
  const again = readVm(events, id);
  write(`\nfirst run:  ${describeVm(vm)}`);
  if (again !== null) write(`second run: ${describeVm(again)}`);
  const { runs } = readTestRuns(events, id);
  const isGreen = runs.at(-1)?.exitCode === 0;
  write(
    isGreen
      ? '✔ The tests are green in the VM that came back.'
      : '✖ The second run did not end as it should.',
  );
  return isGreen;
}

function readVm(events: EventEnvelope[], taskId: string): EventPayload<'vm.acquired'> | null {
  const acquired = events
    .filter((event) => event.taskId === taskId)
    .map(readKnownEvent)
    .find((event) => event?.type === 'vm.acquired');
  return acquired?.type === 'vm.acquired' ? acquired.payload : null;
}

async function followTask(
  client: DemoClient,
  id: string,
  options: HeadlessOptions,
): Promise<EventEnvelope[]> {
  const teller = new ProgressTeller(id);
  const hear = (event: EventEnvelope) => {
    for (const line of teller.tell(event)) options.write(line);
  };
  try {
    return await followDemo(client, id, { signal: options.signal, hear });
  } catch (error) {
    // Else it would go on at the next demo, in a folder that is no more.
    await client.cancelTask(id).catch(() => undefined);
    throw error;
  }
}

function tellSetting(demo: PreparedDemo, url: string, write: HeadlessOptions['write']): void {
  const { name, version, license, defect } = DEMO_PACKAGE;
  write(`project  ${name} ${version} (${license}), from the npm registry; its SHA-512 is the expected one`);
  write(`defect   planted in a copy, ${demo.place}: "${defect.right}" became "${defect.wrong}"`);
  write(`copy     ${demo.folder} (shown to the task read-only, removed at the end)`);
  write(`server   ${url}`);
}

function tellReport(events: EventEnvelope[], rootId: string, write: HeadlessOptions['write']): void {
  const isEnd = (event: EventEnvelope) => event.taskId === rootId && event.type === 'task.completed';
  const result = events.findLast(isEnd)?.payload['result'];
  if (typeof result !== 'string') return;
  write('\n--- report -------------------------------------------------------------');
  write(toPlainText(result));
  write('------------------------------------------------------------------------\n');
}
