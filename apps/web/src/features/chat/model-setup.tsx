import type { SystemStatus } from '@vitto/contracts';
import { Button } from '../../components/button.tsx';
import { useStrings } from '../../i18n/strings-context.tsx';
import { DemoStart } from './demo-start.tsx';

export interface ModelTrouble {
  detail: string | null;
  hint: string | null;
}

/** Why there is no model to answer; `null` when there is one. */
export function findModelTrouble(system: SystemStatus): ModelTrouble | null {
  const main = system.models.find((one) => one.role === 'main');
  if (main !== undefined && main.models.length > 0) return null;
  // That none is set up the page says itself, in the person's language.
  const part = system.components.find(
    (one) => one.name.startsWith('model') && one.state !== 'ok' && one.state !== 'missing',
  );
  return { detail: part?.detail ?? null, hint: part?.hint ?? null };
}

export function isScriptedSystem(system: SystemStatus): boolean {
  return system.models.some((one) => one.role === 'main' && one.scripted);
}

/** The honest empty page of an installation without a model: what to do about it. */
export function ModelSetup(props: { trouble: ModelTrouble; onCheck: () => void; isChecking: boolean }) {
  const strings = useStrings();
  const ways = [
    { what: strings.noModel.key, command: 'export ANTHROPIC_API_KEY=…' },
    { what: strings.noModel.local, command: 'export VITTO_MODEL=ollama/…' },
  ];
  return (
    <section className="grid gap-4">
      <div>
        <h2 className="text-2xl font-semibold tracking-tight">{strings.noModel.title}</h2>
        {props.trouble.detail !== null && <p className="mt-1 text-muted">{props.trouble.detail}</p>}
        <p className="mt-1 max-w-prose text-base text-muted">{props.trouble.hint ?? strings.noModel.text}</p>
      </div>
      <DemoStart />
      <dl className="grid gap-px overflow-hidden rounded-lg border border-line bg-line">
        {ways.map((way) => (
          <div key={way.command} className="grid gap-1 bg-surface px-3 py-2.5">
            <dt className="text-muted">{way.what}</dt>
            <dd>
              <code className="mono font-medium">{way.command}</code>
            </dd>
          </div>
        ))}
      </dl>
      <Button className="justify-self-start" disabled={props.isChecking} onClick={props.onCheck}>
        {strings.noModel.check}
      </Button>
    </section>
  );
}
