import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { systemQuery } from '../../api/queries.ts';
import { useVitto } from '../../api/vitto-context.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import { MenuButton, NewLink } from '../../shell/drawer.tsx';
import { isScriptedSystem } from './is-scripted-system.ts';
import { ScriptedLabel } from './scripted-label.tsx';

export function PageHeader(props: {
  title: string;
  isTitleHidden?: boolean;
  /** What the page shows was played by a script, whatever the installation's model is. */
  isScripted?: boolean;
}) {
  const { title, isTitleHidden = false } = props;
  const strings = useStrings();
  const { api } = useVitto();
  const system = useQuery(systemQuery(api));
  const isScripted =
    props.isScripted === true || (system.data !== undefined && isScriptedSystem(system.data));
  useEffect(() => {
    document.title = `${title.toWellFormed()} · ${strings.app.name}`;
  }, [title, strings]);
  return (
    <header
      className={`flex min-h-11 items-center gap-2 border-b border-line px-4 ${isTitleHidden ? 'md:border-transparent' : ''}`}
    >
      <MenuButton />
      <h1 className={`min-w-0 flex-1 truncate font-semibold ${isTitleHidden ? 'md:sr-only' : ''}`} dir="auto">
        {title.toWellFormed()}
      </h1>
      {isScripted && (
        <span className="ms-auto">
          <ScriptedLabel />
        </span>
      )}
      <NewLink />
    </header>
  );
}
