import { searchQuery, searchResults } from '@vitto/contracts';
import { toStorableText } from '../../kernel/text/storable.ts';
import { searchConversations, type RunDependencies } from '../../runs/index.ts';
import { viewerOf, type WebApp } from './web-app.ts';

export function addSearchRoute(app: WebApp, runs: RunDependencies): void {
  app.get(
    '/api/search',
    {
      schema: {
        tags: ['conversations'],
        summary: 'Find conversations by title, by what I wrote, and by what came of it',
        description:
          'All words must be there; the last may be the beginning of one. Excerpts are plain text in parts, of which those with `isMatch` are what was found.',
        querystring: searchQuery,
        response: { 200: searchResults },
      },
    },
    async (request) => {
      const { q, limit } = request.query;
      const { userId } = viewerOf(request);
      return { items: await searchConversations(runs.database.pool, userId, toStorableText(q), limit) };
    },
  );
}
