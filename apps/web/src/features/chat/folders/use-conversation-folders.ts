import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../../api/api-error.ts';
import { conversationQuery } from '../../../api/queries.ts';
import { useVitto } from '../../../api/vitto-context.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { FolderAccess, FolderEdit } from './folder-access.ts';

/**
 * The folders of a conversation that exists. Nothing is shown before the server has it: to say that a folder can be
 * read, or cannot any more, must be true.
 */
export function useConversationFolders(id: string, isTaskRunning: boolean): FolderAccess {
  const { api } = useVitto();
  const strings = useStrings();
  const queries = useQueryClient();
  const query = conversationQuery(api, id);
  const conversation = useQuery(query);
  const [isChanging, setChanging] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isBusy = useRef(false);

  const change = async (edit: FolderEdit): Promise<boolean> => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setChanging(true);
    setError(null);
    try {
      // Another tab or the command line may have changed them since this page was loaded.
      const { allowedPaths } = await api.readConversation(id);
      const changed = await api.allowPaths(id, edit(allowedPaths));
      await queries.cancelQueries({ queryKey: query.queryKey });
      queries.setQueryData(query.queryKey, changed);
      return true;
    } catch (failure) {
      setError(toApiError(failure));
      return false;
    } finally {
      isBusy.current = false;
      setChanging(false);
    }
  };
  const folders = conversation.data?.allowedPaths ?? [];
  return { folders, isChanging, error, errorTitle: strings.folders.failed, isTaskRunning, change };
}
