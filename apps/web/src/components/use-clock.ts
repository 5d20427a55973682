import { useEffect, useState } from 'react';

/** Now, in milliseconds since 1970; whoever uses it is drawn again each second. */
export function useClock(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
