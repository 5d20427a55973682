import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readKnownEvent, type EventEnvelope, type EventPayload } from '@vitto/contracts';
import type { Vitto } from '../app/start-vitto.ts';
import { DEMO_PACKAGE } from './demo-package.ts';
import { DemoClient } from './demo-client.ts';
import { judgeDemo, readTestRuns, type Verdict } from './judge-demo.ts';
import { toPlainText } from './plain-text.ts';
import { demoCacheOf, prepareDemo, type PreparedDemo } from './prepare-demo.ts';
import { removePauses } from './remove-pauses.ts';
import { describeVm, ProgressTeller } from './tell-progress.ts';
import { describeTestRun } from './test-run.ts';

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
    const events = await playDemo(vitto, demo, { ...options, script });
    tellReport(events, write);
    const verdict = judgeDemo(events);
    tellVerdict(verdict, write);
    if (verdict.problems.length > 0) return false;
    return await showSecondRun(vitto, events, { ...options, script });
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

async function playDemo(
  vitto: Vitto,
  demo: PreparedDemo,
  options: HeadlessOptions,
): Promise<EventEnvelope[]> {
  const client = await DemoClient.connect(vitto);
  return followTask(client, await client.startDemo(demo, options.script), options);
}

/** Where the demo ran in a VM: puts it aside as after a task, and shows that the next task finds all as it was. */
async function showSecondRun(
  vitto: Vitto,
  first: EventEnvelope[],
  options: HeadlessOptions,
): Promise<boolean> {
  const vm = readVm(first);
  if (vm?.vmId === undefined) return true;
  const { write } = options;
  const client = await DemoClient.connect(vitto);
  write('\nThe VM is put aside: its memory goes to a snapshot. Then the tests once more.');
  await client.snapshot(vm.vmId);
  const events = await followTask(client, await client.startSecondRun(options.script), options);
  const again = readVm(events);
  write(`\nfirst run:  ${describeVm(vm)}`);
  if (again !== null) write(`second run: ${describeVm(again)}`);
  const { runs } = readTestRuns(events);
  const isGreen = runs.at(-1)?.exitCode === 0;
  write(
    isGreen
      ? '✔ The tests are green in the VM that came back.'
      : '✖ The second run did not end as it should.',
  );
  return isGreen;
}

function readVm(events: EventEnvelope[]): EventPayload<'vm.acquired'> | null {
  const acquired = events.map(readKnownEvent).find((event) => event?.type === 'vm.acquired');
  return acquired?.type === 'vm.acquired' ? acquired.payload : null;
}

async function followTask(
  client: DemoClient,
  id: string,
  options: HeadlessOptions,
): Promise<EventEnvelope[]> {
  const teller = new ProgressTeller();
  const events: EventEnvelope[] = [];
  try {
    for await (const event of client.followTask(id, options.signal)) {
      events.push(event);
      for (const line of teller.tell(event)) options.write(line);
    }
  } catch (error) {
    // Else it would go on at the next demo, in a folder that is no more.
    await client.cancelTask(id).catch(() => undefined);
    throw error;
  }
  return events;
}

function tellSetting(demo: PreparedDemo, url: string, write: HeadlessOptions['write']): void {
  const { name, version, license, defect } = DEMO_PACKAGE;
  write(`project  ${name} ${version} (${license}), from the npm registry; its SHA-512 is the expected one`);
  write(`defect   planted in a copy, ${demo.place}: "${defect.right}" became "${defect.wrong}"`);
  write(`copy     ${demo.folder} (shown to the task read-only, removed at the end)`);
  write(`server   ${url}`);
}

function tellReport(events: EventEnvelope[], write: HeadlessOptions['write']): void {
  const result = events.findLast((event) => event.type === 'task.completed')?.payload['result'];
  if (typeof result !== 'string') return;
  write('\n--- report -------------------------------------------------------------');
  write(toPlainText(result));
  write('------------------------------------------------------------------------\n');
}

function tellVerdict({ before, after, problems }: Verdict, write: HeadlessOptions['write']): void {
  if (before !== null) write(`tests before: ${describeTestRun(before)}`);
  if (after !== null) write(`tests after:  ${describeTestRun(after)}`);
  write(
    problems.length === 0
      ? '✔ The tests went from red to green, by the exit codes in the journal.'
      : `✖ The demo did not end as it should: ${problems.join('; ')}.`,
  );
}
