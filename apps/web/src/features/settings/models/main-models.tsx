import type { ModelSetup, Settings } from '@vitto/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { systemQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { Button } from '../../../components/button.tsx';
import { useFeatureStrings } from '../../../i18n/define-strings.ts';
import { useDraft } from '../drafts.tsx';
import { ActionFailure, Part, SaveLine } from '../parts.tsx';
import { useSettingsChange } from '../settings-api.ts';
import { settingsStrings } from '../strings.ts';
import { useAction } from '../use-action.ts';
import { AddModel } from './add-model.tsx';
import { findSuggestions, moveModel } from './model-list.ts';
import { ModelRow } from './model-row.tsx';
import { modelSetupQuery } from './models-api.ts';
import { modelsStrings } from './strings.ts';

/** The ordered list of the role `main`: what a task of this person asks first, and what goes on after it. */
export function MainModels({ setup, settings }: { setup: ModelSetup; settings: Settings }) {
  const words = useFeatureStrings(modelsStrings);
  const common = useFeatureStrings(settingsStrings);
  const draft = useDraft('models.main', setup.mainModels);
  const models = draft.value;
  const isOwnList = settings.models.main !== undefined;
  const [said, setSaid] = useState('');
  const save = useSave(settings);

  const change = (next: readonly string[]) => {
    save.forget();
    draft.change([...next]);
  };
  const move = (model: string, by: -1 | 1) => {
    const next = moveModel(models, model, by);
    change(next);
    setSaid(words.position(model, next.indexOf(model) + 1, next.length));
  };
  const submit = async (list: readonly string[]) => {
    if ((await save.run(list)) !== null) draft.reset();
  };
  return (
    <Part
      title={words.main}
      text={
        isOwnList || setup.mainModels.length === 0
          ? words.mainText
          : `${words.mainText} ${words.mainIsInstallation}`
      }
    >
      {models.length === 0 && <p className="text-muted">{words.mainEmpty}</p>}
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-2 empty:hidden">
        {models.map((model, at) => (
          <ModelRow
            key={model}
            model={model}
            at={at}
            count={models.length}
            onMove={(by) => move(model, by)}
            onRemove={() => change(models.filter((one) => one !== model))}
          />
        ))}
      </ol>
      <p role="status" className="sr-only">
        {said}
      </p>
      <AddModel
        models={models}
        suggestions={findSuggestions(setup, models)}
        onAdd={(model) => change([...models, model])}
      />
      <form
        className="grid grid-cols-[minmax(0,1fr)] gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(models);
        }}
      >
        <ActionFailure title={common.notSaved} error={save.error} />
        <SaveLine
          label={common.save}
          isBusy={save.isBusy}
          isDone={save.isDone}
          isChanged={draft.isChanged}
          onCancel={draft.isChanged ? draft.reset : undefined}
        />
      </form>
      {isOwnList && (
        <Button
          look="quiet"
          className="justify-self-start"
          aria-disabled={save.isBusy}
          onClick={() => void submit([])}
        >
          {words.useInstallation}
        </Button>
      )}
    </Part>
  );
}

/** An empty list is none of one's own: that of the installation counts. */
function useSave(settings: Settings) {
  const { api, client } = useVitto();
  const queries = useQueryClient();
  const send = useSettingsChange();
  return useAction(async (_key, list: readonly string[]) => {
    const { main: _main, ...others } = settings.models;
    const changed = await send({
      models: list.length === 0 ? others : { ...others, main: list.join(',') },
    });
    void queries.invalidateQueries({ queryKey: systemQuery(api).queryKey });
    // What is shown as saved is what the server now has.
    await queries.invalidateQueries({ queryKey: modelSetupQuery(client).queryKey });
    return changed;
  });
}
