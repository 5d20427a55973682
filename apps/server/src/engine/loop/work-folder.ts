/** Where the sub-Vittos of a user work in their shared machine, each in a folder that is named after it. */
export const WORK_ROOT = '/home/user/work';

/** The working folder of a sub-Vitto in a VM. */
export function workFolderOf(taskId: string): string {
  return `${WORK_ROOT}/${taskId}`;
}
