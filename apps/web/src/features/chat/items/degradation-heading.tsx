import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import type { ApprovalItem } from '../model/view.ts';

/** The approval that the server asks for under this name is no call: it settles where the task's commands run. */
export function isDegradation(item: ApprovalItem): boolean {
  return item.tool === 'use_process_sandbox';
}

export function wordsOf(item: ApprovalItem, strings: Strings): { approve: string; refuse: string } {
  if (isDegradation(item)) return strings.vm.degrade;
  return { approve: strings.approval.approve, refuse: strings.approval.refuseWithNote };
}

/** Why there is no VM, and what can be done: another place, waiting, or stopping the task. */
export function DegradationHeading({ item, isOpen }: { item: ApprovalItem; isOpen: boolean }) {
  const strings = useStrings();
  const words = strings.vm.degrade;
  const { reason, waits } = readArguments(item.arguments);
  return (
    <div className="grid gap-1">
      <h2 className={`flex flex-wrap items-center gap-2 font-semibold ${isOpen ? 'text-amber' : ''}`}>
        <Icon name="warning" />
        {words.title}
      </h2>
      {reason !== '' && (
        <p className="[overflow-wrap:anywhere]" dir="auto">
          {reason.toWellFormed()}
        </p>
      )}
      {isOpen && (
        <p className="text-muted">
          {words.explain} {waits ? words.wait : words.noWait} {words.stop}
        </p>
      )}
    </div>
  );
}

function readArguments(args: unknown): { reason: string; waits: boolean } {
  const { reason, waits } = (args ?? {}) as { reason?: unknown; waits?: unknown };
  return { reason: typeof reason === 'string' ? reason : '', waits: waits === true };
}
