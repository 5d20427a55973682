import { AppError } from '../../kernel/app-error.ts';
import type { DoorDependencies } from '../door-dependencies.ts';
import { viewerOf, type WebApp } from '../web/web-app.ts';

/** The name of Vitto itself: a task with the user's own choice of models. */
const VITTO = 'vitto';

/** GET /v1/models: Vitto, and each of the models that its tasks may be given. */
export function addModelRoutes(app: WebApp, deps: DoorDependencies): void {
  app.get('/v1/models', { schema: { hide: true } }, async (request) => {
    const ids = await listModelIds(deps, viewerOf(request).userId);
    return { object: 'list', data: ids.map(toModel) };
  });

  // A model's own name holds slashes.
  app.get<{ Params: { '*': string } }>('/v1/models/*', { schema: { hide: true } }, async (request) => {
    const id = request.params['*'];
    await chooseModel(deps, viewerOf(request).userId, id);
    return toModel(id);
  });
}

/**
 * The models of a task that is asked for under a model's name; `undefined`: the user's own choice.
 * @throws AppError `openai.no-such-model` (404).
 */
export async function chooseModel(
  deps: DoorDependencies,
  userId: string,
  name: string,
): Promise<string | undefined> {
  if (name === VITTO) return undefined;
  const known = await listModelIds(deps, userId);
  if (known.includes(name)) return name;
  throw new AppError('openai.no-such-model', `The model \`${name.slice(0, 200)}\` does not exist.`, {
    status: 404,
    hint: `There are: ${known.join(', ')}.`,
    errors: [{ path: 'model', message: 'not one of GET /v1/models' }],
  });
}

async function listModelIds(deps: DoorDependencies, userId: string): Promise<string[]> {
  const models = await deps.listMainModels(userId);
  // Scripts and recordings are files of the server: they are played as `vitto`, under no name of their own.
  return [VITTO, ...models.filter((id) => /^[a-z]+\//.test(id))];
}

function toModel(id: string) {
  return { id, object: 'model', created: 0, owned_by: id === VITTO ? VITTO : id.split('/', 1)[0] };
}
