import { useStrings } from '../../i18n/strings-context.tsx';

/** Says that no language model wrote this. */
export function ScriptedLabel() {
  const strings = useStrings();
  return (
    <span
      title={strings.scripted.explain}
      className="shrink-0 rounded-full border border-amber-line bg-amber-soft px-2 py-px text-xs font-medium text-amber"
    >
      {strings.scripted.label}
    </span>
  );
}
