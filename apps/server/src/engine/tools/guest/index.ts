import type { ToolPlugin } from '../tool.ts';
import { editFile } from './edit-file.ts';
import { listFiles } from './list-files.ts';
import { readProcess, startProcess, stopProcess } from './long-processes.ts';
import { readFile } from './read-file.ts';
import { TIME_LIMITS } from './guest-inputs.ts';
import { createRunCommand } from './run-command.ts';
import { searchCode } from './search-code.ts';
import { writeFile } from './write-file.ts';

/** The tools that work in the task's guest: a VM, or the process sandbox where none can be had. */
export function createGuestTools(commandLimitMs: number = TIME_LIMITS.command): ToolPlugin {
  return {
    name: 'guest',
    tools: [
      createRunCommand(commandLimitMs),
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
}
