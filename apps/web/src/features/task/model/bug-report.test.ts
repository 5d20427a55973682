import { describe, expect, it } from 'vitest';
import { EventMaker, idOf } from '../../../testing/event-maker.ts';
import { taskShape } from '../../../testing/fake-shapes.ts';
import type { Task } from '@vitto/contracts';
import { maskShapes, shortenHomes, writeBugReport } from './bug-report.ts';

const TASK = idOf(1);
const key = `sk-ant-api03-${'aB3dE5gH7j'.repeat(4)}`;

function report(text: string, count = 1): string {
  const make = new EventMaker();
  const events = Array.from({ length: count }, (_, n) => [
    make.starting(TASK, `c${n}`, 'run_command', { command: text }),
    make.called(TASK, `c${n}`, 'run_command', { text }),
  ]).flat();
  const facts = { events, system: null, browser: 'Test', at: '2026-03-01T10:00:00Z' };
  return writeBugReport({ task: { ...(taskShape(TASK) as Task), title: text }, ...facts });
}

describe('a bug report', () => {
  it('tells the task, its steps and its raw events', () => {
    const text = report('npm test');
    expect(text).toContain(`# Task ${TASK}: running`);
    expect(text).toMatch(/- \S+ Run npm test done/u);
    expect(text).toContain('"type":"tool.called"');
  });

  it('holds no key and no name of a home, wherever they stand', () => {
    const text = report(`curl -H "x: ${key}" /home/ana/x C:\\Users\\Ana\\y`);
    expect(text).not.toContain(key);
    expect(text).not.toMatch(/ana/iu);
    expect(text).toContain('[anthropic key masked]');
  });

  it('cannot be broken out of by what a tool said, and hides nothing that it said', () => {
    const text = report('``` \u202e evil ````` done');
    expect(text).toContain('``````json');
    expect(text).toContain('[U+202E]');
    expect(text).not.toContain('\u202e');
  });

  it('stays small, says what it left out, and is quick with a megabyte in a line', () => {
    const text = report('x'.repeat(1_000_000), 60);
    expect(text.length).toBeLessThan(200_000);
    expect(text).toContain('earlier events left out');
  });
});

describe('homes', () => {
  it.each([
    ['/home/ana/a.txt', '~/a.txt'],
    ['"/Users/ana"', '"~"'],
    ['cd /root/x; ls /srv/root/y', 'cd ~/x; ls /srv/root/y'],
    ['"C:\\\\Users\\\\Ana Maria\\\\x"', '"~ Maria\\\\x"'],
    ['https://example.com/home/page', 'https://example.com/home/page'],
  ])('%s', (text, shown) => expect(shortenHomes(text)).toBe(shown));
  it('leave plain text whole', () => expect(maskShapes('a commit 3f786850e3')).toBe('a commit 3f786850e3'));
});
