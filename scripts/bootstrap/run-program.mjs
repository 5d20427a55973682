import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { ROOT } from './surroundings.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

/**
 * Runs a program in the foreground: signals reach it, its exit code is ours. `tie` gives it a channel by which
 * it sees our end, should we be killed.
 */
export function runProgram(program, args, { cwd = ROOT, env = process.env, tie = false } = {}) {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['inherit', 'inherit', 'inherit', ...(tie ? ['ipc'] : [])],
  });
  // A terminal sends its signals to the program as well: passed on, a Ctrl-C would arrive as two.
  const forward = (signal) => (process.stdin.isTTY && signal !== 'SIGTERM') || child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of SIGNALS) process.off(name, forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/**
 * Runs a program quietly, with nothing on its stdin, for at most `timeoutMs`. Its output (the last part of it)
 * is for the case of failure.
 */
export function runQuietly(program, args, { cwd = ROOT, env = process.env, timeoutMs }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk) => (output = (output + chunk).slice(-20_000));
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    const end = (signal) => child.kill(signal);
    let interrupted = false;
    const interrupt = () => {
      interrupted = true;
      end('SIGTERM');
    };
    process.on('SIGINT', interrupt);
    process.on('SIGTERM', interrupt);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end('SIGTERM');
      setTimeout(end, 10_000, 'SIGKILL').unref();
    }, timeoutMs);
    const finish = (code) => {
      clearTimeout(timer);
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
      resolve({
        ok: code === 0,
        interrupted,
        output: late ? `${output}\n(stopped after ${timeoutMs / 1000} s)` : output,
      });
    };
    child.once('error', (error) => {
      output += error.message;
      finish(-1);
    });
    child.once('close', finish);
  });
}
