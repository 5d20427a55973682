const NOT_A_TERMINAL_MS = 10_000;

/**
 * Shows that something long goes on: a line that counts on a terminal, a line every ten seconds elsewhere.
 * `detail` may add how far it is. Returns what ends it.
 */
export function showProgress(what, detail = () => '') {
  const started = performance.now();
  const isTerminal = process.stderr.isTTY === true;
  const write = (end) => {
    const seconds = Math.round((performance.now() - started) / 1000);
    process.stderr.write(
      `${isTerminal ? '\r\x1b[K' : ''}vitto: ${what}${end}${detail()} (${seconds} s)${isTerminal ? '' : '\n'}`,
    );
  };
  write(' …');
  const timer = setInterval(write, isTerminal ? 500 : NOT_A_TERMINAL_MS, ' …');
  timer.unref();
  return (outcome = 'done') => {
    clearInterval(timer);
    write(`: ${outcome}`);
    if (isTerminal) process.stderr.write('\n');
  };
}
