import { useSession } from '../../../api/session.ts';

/** Folders of the machine are for the owner and admins to allow. Until it is known who asks, nothing is taken away. */
export function useMayAllowFolders(): boolean {
  const role = useSession().data?.role;
  return role !== 'member' && role !== 'viewer';
}
