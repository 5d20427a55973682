import type { ToolPlugin } from '../tool.ts';
import { editFile } from './edit-file.ts';
import { listFiles } from './list-files.ts';
import { readProcess, startProcess, stopProcess } from './long-processes.ts';
import { readFile } from './read-file.ts';
import { runCommand } from './run-command.ts';
import { searchCode } from './search-code.ts';
import { writeFile } from './write-file.ts';

/** The tools that work in the task's guest: a VM, or the process sandbox where none can be had. */
export const guestTools: ToolPlugin = {
  name: 'guest',
  tools: [
    runCommand,
    writeFile,
    readFile,
    editFile,
    listFiles,
    searchCode,
    startProcess,
    readProcess,
    stopProcess,
  ],
};
