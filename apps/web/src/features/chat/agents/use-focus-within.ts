import { useEffect, useRef } from 'react';

/** When what had the focus in a row goes with a change of its state, the row's name has it: the keyboard goes on there. */
export function useFocusWithin(state: string) {
  const ref = useRef<HTMLLIElement>(null);
  const isWithin = useRef(false);
  const toName = () => ref.current?.querySelector('a')?.focus();
  useEffect(() => {
    if (isWithin.current && ref.current?.contains(document.activeElement) === false) toName();
  }, [state]);
  return {
    ref,
    toName,
    onFocus: () => {
      isWithin.current = true;
    },
    onBlur: () => {
      isWithin.current = false;
    },
  };
}
